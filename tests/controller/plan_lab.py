"""Plans checked against a real repository: its snapshot, its tests, and what a run has read of it."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codeplane.controller.evidence import Category, EvidencePolicy, EvidenceRecord
from codeplane.controller.plan_graph import PlanCheck, PlanFacts, PlanIdentity, check_plan
from codeplane.controller.plan_graph.reaching import reaching_tests
from codeplane.core.paths import RepoPath
from codeplane.session import RepoSession
from tests.tools.repo import Repo

FILES = {
    "shop/cart.py": '''"""A cart."""

LIMIT = 10


class Cart:
    def __init__(self) -> None:
        self.items: list[int] = []

    def add(self, price: int) -> None:
        self.items.append(price)

    def total(self) -> int:
        return sum(self.items)


class Basket:
    def add(self, price: int) -> None:
        pass


def discount(total: int) -> int:
    return total // LIMIT
''',
    "shop/__init__.py": "",
    "shop/untested.py": """def lonely(value: int) -> int:
    return value + 1


def other(value: int) -> int:
    return value + 1
""",
    "tests/test_cart.py": """from shop.cart import Cart, discount


def test_total() -> None:
    cart = Cart()
    cart.add(3)
    assert cart.total() == 3


def test_discount() -> None:
    assert discount(100) == 10
""",
    "AGENTS.md": "# Rules\n\nEvery change has a test.\n",
    "docs/notes.md": "# Notes\n\nSome notes.\n",
    "api/openapi.yaml": "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\npaths: {}\n",
}
PROMPT = "Cart.total must ignore negative prices, see discount."


@dataclass(frozen=True)
class Choice:
    strategy_id: str = "general_change"
    reasons: Sequence[str] = ("nothing calls for another strategy",)


@dataclass(frozen=True)
class TracedChain:
    chain_id: str
    broken_at: str | None = None


@dataclass(frozen=True)
class PlanRule:
    memory_id: str
    condition: Mapping[str, Any]
    required_steps: Sequence[str] = ()
    deny_code: str | None = None


@dataclass(repr=False)
class PlanLab:
    """One run on one repository."""

    session: RepoSession
    root: Path
    facts: PlanFacts
    records: dict[str, EvidenceRecord] = field(default_factory=dict)

    def read(self, path: str, first: int = 1, last: int = 0) -> str:
        """The handle of lines that the run has read."""
        lines = (self.root / path).read_text().split("\n")
        last = last or len(lines)
        digest = hashlib.sha256((self.root / path).read_bytes()).hexdigest()
        record = self.issue(Category.CODE, path, (first, last), digest, "\n".join(lines[first - 1 : last]))
        self.records[record.handle] = record
        return record.handle

    def issue(
        self, category: Category, source: str, lines: tuple[int, int], digest: str, quote: str
    ) -> EvidenceRecord:
        """New evidence; it counts when an answer has shown it."""
        text = f"{source}:{lines}:{digest}"
        handle = f"ev_{hashlib.sha256(text.encode()).hexdigest()[:10]}"
        return EvidenceRecord(handle, category, source, *lines, digest, quote)

    def check(self, *nodes: Mapping[str, Any], **envelope: Any) -> PlanCheck:
        return self.check_document({"nodes": list(nodes), **envelope})

    def check_document(self, document: Mapping[str, Any]) -> PlanCheck:
        """Checks a plan, and shows what the answer has to show."""
        check = check_plan(document, self.facts)
        self.records.update({record.handle: record for record in check.evidence})
        return check

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """A block after which the run has read nothing more than before it."""
        before = dict(self.records)
        yield
        self.records.clear()
        self.records.update(before)

    def having(self, **changes: Any) -> "PlanLab":
        """The lab with other facts."""
        return replace(self, facts=replace(self.facts, **changes))


@contextmanager
def open_lab(base: Path, files: Mapping[str, str] = FILES, **changes: Any) -> Iterator[PlanLab]:
    repo = Repo(base, files)
    repo.session.index.refresh()
    with repo.session.index.snapshot() as snapshot:
        records: dict[str, EvidenceRecord] = {}
        identity = PlanIdentity("w_1", "agent_1", "sess_1", "snap_1", str(repo.root), "pack_1", "hash_1")
        facts = PlanFacts(
            identity,
            snapshot,
            Choice(),
            repo.session.tree.jail.enter,
            records.get,
            lambda: list(records.values()),
            prompt=PROMPT,
            policy=EvidencePolicy(),
            packs=("python",),
            tests_reaching=lambda path, symbols: reaching_tests(snapshot, RepoPath(path), symbols),
        )
        lab = PlanLab(repo.session, repo.root, facts, records)
        lab.facts = replace(facts, issue=lab.issue, **changes)
        yield lab
    repo.session.close()


def codes_of(check: PlanCheck) -> set[str]:
    return {f"{problem.code}/{problem.sub_code}" for problem in check.problems}
