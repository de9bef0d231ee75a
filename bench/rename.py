"""Renames of symbols drawn from real packages, by CodePlane and by its peers, judged by tests and a server.

Every rename that a tool does without asking is tried on a copy, where the suite of the package has to pass as
before. Where CodePlane asks for a decision, every place that the server names has to be among those that it
shows. What takes long is kept in `.cache/renames`, so that a run goes on where another was cut off.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.corpora import CACHE
from bench.lsp import Server
from bench.measure import Figure
from bench.oracle import Oracle, pyright, typescript
from bench.rename_corpora import CORPORA, Corpus
from bench.renamers import Answer, Asked, Language, Peer, Remembered, Renamer, Spot, answer_of, planned, spots
from bench.semantic import Installed, scip_typescript, take_in, ty_scip
from bench.suites import BROKEN, Kept, Trial
from codeplane.config import Places
from codeplane.graph.places import place_of
from codeplane.languages.facts import Reason
from codeplane.names import DefFact, Snapshot
from codeplane.refactor import Plan, Verdict
from codeplane.refactor.rename_set import rename_set_of, variable_set_of
from codeplane.refactor.subject import Subject
from codeplane.refactor.variables import Variable, is_argument, variable_of
from codeplane.session import Checkout, RepoSession

DEFINITIONS = (
    *("function", "method", "class", "interface", "type", "enum", "member"),
    *("field", "property", "constant", "variable"),
)
KINDS = (*DEFINITIONS, "parameter", "local")
OURS = "codeplane"
WITH_TIER = "codeplane+indexer"  # the same with the facts of an indexer
TOOLS = (OURS, WITH_TIER, "pyright", "rope", "jedi", "tsserver")
OF_A_KIND = 4
SEED = 20
_ELSEWHERE = ("docs/", "doc/", "examples/", "test/", "tests/", "testing/")
_MOST_TOLD = 20


class Equipment(NamedTuple):
    """What judges and what renames in the packages of a language."""

    ending: str
    judge: Callable[[], Oracle]
    log: str  # what the judge writes into its log when it has read the project
    indexer: Callable[[], Installed]
    server: str  # the judge as a tool that renames
    libraries: tuple[str, ...] = ()  # tools beside it
    most_hidden: int | None = None  # the bound of what a plan may leave out; None where it is only shown


EQUIPMENT = {
    "python": Equipment(".py", pyright, "source file", ty_scip, "pyright", ("rope", "jedi"), 0),
    "typescript": Equipment(".ts", typescript, "", scip_typescript, "tsserver"),
}


@dataclass
class Tally:
    """What came out of the renames in the packages of a language, by tool and kind."""

    applied: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[tuple[str, str]] = field(default_factory=list)  # places that mean something else
    broken: list[tuple[str, str]] = field(default_factory=list)  # renames after which tests fail
    missed: Counter[str] = field(default_factory=Counter)  # places that the server names and nobody changed
    asked: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)  # places that the server names, by kind
    certain: Counter[str] = field(default_factory=Counter)  # of these, those that are changed at once
    shown: Counter[str] = field(default_factory=Counter)  # of these, those that are changed or shown
    hidden: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    tier_reasons: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    open_places: Counter[str] = field(default_factory=Counter)  # asked about, and what the tier makes of them


def figures(
    corpora: tuple[Corpus, ...] = CORPORA,
    of_a_kind: int = OF_A_KIND,
    seed: int = SEED,
    tools: tuple[str, ...] = TOOLS,
) -> Iterator[Figure]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for corpus in corpora:
        yield from _corpus_figures(corpus, (of_a_kind, seed, tools), tallies[corpus.language])
    for language, tally in tallies.items():
        yield from _summed(language, tally, [one for one in tools if _is_for(one, language)])
    yield from _overall(list(tallies.values()))


def _corpus_figures(
    corpus: Corpus, choice: tuple[int, int, tuple[str, ...]], tally: Tally
) -> Iterator[Figure]:
    of_a_kind, seed, tools = choice
    of_a_kind = max(1, of_a_kind // 2) if corpus.is_slow else of_a_kind
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = copied(corpus.fetch(), Path(base))
        kept = Kept(CACHE.parent / "renames" / f"{corpus.name.rpartition('/')[2]}-{corpus.version}.jsonl")
        trial = Trial(root, Path(base) / "trial", corpus.check, kept)
        if trial.before >= BROKEN:
            yield Figure(f"suite, {corpus.name}", trial.before, "", 0, "it does not run as it is")
            return
        before = len(tally.broken), len(tally.wrong)
        with Bench(root, trial, kept, tools, corpus.language) as bench:
            symbols = drawn(bench.session, of_a_kind, seed, bench.equipment.ending)
            bench.draw_twins(of_a_kind, seed)
            for number, (kind, subject) in enumerate(symbols):
                bench.rename(kind, subject, fresh_name(subject.name, number, corpus.language), tally)
        problems = [f"{tool} {text}" for tool, text in tally.broken[before[0] :] + tally.wrong[before[1] :]]
        ours = [one for one in problems if one.startswith(OURS)]
        yield Figure(f"wrong, {corpus.name}", len(ours), "", 0, "; ".join(ours or problems[:3]))


def _is_for(tool: str, language: str) -> bool:
    equipment = EQUIPMENT[language]
    return tool in (OURS, WITH_TIER, equipment.server, *equipment.libraries)


def _summed(language: str, tally: Tally, tools: list[str]) -> Iterator[Figure]:
    for tool in tools:
        kinds = [kind for kind in KINDS if tally.asked[kind]]
        by_kind = ", ".join(f"{kind} {tally.applied[tool, kind]}/{tally.asked[kind]}" for kind in kinds)
        share = 100 * _of(tally.applied, tool) / tally.asked.total()
        detail = f"{_of(tally.applied, tool)} of {tally.asked.total()}: {by_kind}"
        yield Figure(f"{language}: done at once, {tool}", share, "%", None, detail)
        bound = 0 if tool in (OURS, WITH_TIER) else None
        wrong = [text for one, text in tally.wrong if one == tool]
        yield Figure(f"{language}: wrong places, {tool}", len(wrong), "", bound, "; ".join(wrong[:3]))
        broken = [text for one, text in tally.broken if one == tool]
        yield Figure(f"{language}: broken suites, {tool}", len(broken), "", bound, "; ".join(broken[:3]))
        detail = "of those that were applied"
        yield Figure(f"{language}: places left out, {tool}", tally.missed[tool], "", None, detail)
    for kind in KINDS:
        if tally.said[kind]:
            recall, shown = (one[kind] / tally.said[kind] for one in (tally.certain, tally.shown))
            detail = f"of {tally.said[kind]} places that the server names; {shown:.0%} with those shown"
            yield Figure(f"{language}: changed at once, {kind}", recall * 100, "%", None, detail)
    for reasons in (tally.reasons, tally.tier_reasons):
        for reason, count in reasons.most_common(_MOST_TOLD):
            print(f"    {count:>4} {reason}")
    bound = EQUIPMENT[language].most_hidden
    detail = "; ".join(tally.hidden[:5])
    yield Figure(f"{language}: places outside of candidates", len(tally.hidden), "", bound, detail)
    yield from _open_figures(language, tally.open_places)


def _open_figures(language: str, places: Counter[str]) -> Iterator[Figure]:
    """What an indexer makes of the places that are open by structure alone."""
    if not places[OURS]:
        return
    closed = places["inside"] + places["outside"]
    detail = f"of {places[OURS]}: {places['inside']} mean the symbol, {places['outside']} something else"
    yield Figure(f"{language}: open places the tier closes", closed, "", None, detail)
    detail = f"{places['listed']} of them are listed and no longer asked about"
    yield Figure(f"{language}: open places left", places[OURS] - closed, "", None, detail)


def _overall(tallies: list[Tally]) -> Iterator[Figure]:
    outcomes = sum((tally.outcomes for tally in tallies), Counter())
    detail = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    yield Figure("symbols", outcomes.total(), "", None, detail)
    seconds = [one for tally in tallies for one in tally.seconds]
    if seconds:
        yield Figure("preview", statistics.median(seconds), "s", 0.3, f"largest {max(seconds):.2f} s")


class Bench:
    """One project with the tools that rename in it."""

    def __init__(
        self, root: Path, trial: Trial, kept: Kept, tools: tuple[str, ...], language: str = "python"
    ) -> None:
        self._root, self._trial, self._kept = root, trial, kept
        self.equipment = EQUIPMENT[language]
        self.session = _opened(root)
        indexer = self.equipment.indexer
        self._tier_session = _opened_with_tier(root, indexer()) if WITH_TIER in tools else None
        self._twins: dict[tuple[str, str, int, int], Subject] = {}
        oracle = self.equipment.judge()
        server = Server(oracle.command, root, oracle.settings, oracle.options)
        if self.equipment.log:
            server.wait_until_logged(self.equipment.log)  # before that, it answers by the open file alone
        self._server = Language(server, root, language, keeps_open=language == "typescript")
        self._peers = {name: Peer(name, root) for name in tools if name in self.equipment.libraries}
        others: dict[str, Renamer] = {self.equipment.server: self._server, **self._peers}
        self._tools = {name: Remembered(name, others[name], kept) for name in tools if name in others}

    def __enter__(self) -> "Bench":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        for peer in self._peers.values():
            peer.stop()
        self.session.close()
        if self._tier_session is not None:
            self._tier_session.close()

    def draw_twins(self, of_a_kind: int, seed: int) -> None:
        """Draws the same symbols again from the session that has an indexer's facts."""
        if self._tier_session is not None:
            twins = drawn(self._tier_session, of_a_kind, seed, self.equipment.ending)
            self._twins = {(kind, *_where(one)): one for kind, one in twins}

    def rename(self, kind: str, subject: Subject, new: str, tally: Tally) -> None:
        asked = Asked(kind, subject.name, self._spot(*_where(subject)), new)
        began = time.perf_counter()
        plan = planned(self.session, subject, new)
        tally.seconds.append(time.perf_counter() - began)
        tally.outcomes[plan.verdict] += 1
        tally.asked[kind] += 1
        said = self._said(subject, asked)
        self._shown(plan, kind, said, tally)
        answers = {OURS: answer_of(plan)} | {name: one.rename(asked) for name, one in self._tools.items()}
        if self._tier_session is not None:
            other = planned(self._tier_session, self._twins[(kind, *_where(subject))], new)
            answers[WITH_TIER] = answer_of(other)
            if other.verdict is Verdict.NEEDS_DECISION:
                tally.tier_reasons[f"{kind} with the tier: {_open_reasons(other)}"] += 1
            tally.open_places.update(_closed_places(plan, other))
        for tool, answer in answers.items():
            if answer.files:
                tally.applied[tool, kind] += 1
                self._judge(tool, answer, asked, (said, tally))

    def _judge(self, tool: str, answer: Answer, asked: Asked, known: tuple[set[Spot], Tally]) -> None:
        said, tally = known
        changed = spots(self._root, answer, asked)
        about = f"{asked.kind} {asked.name} at {asked.at[0]}:{asked.at[1]}"
        tally.missed[tool] += len(said - changed)
        for spot in sorted(changed - said):
            means = self._means(spot) if spot[0].endswith(self.equipment.ending) else set()
            if means and means.isdisjoint(said):
                tally.wrong.append((tool, f"{about}, changed at {spot[0]}:{spot[1]}"))
        if self._trial.broken(answer.files):
            tally.broken.append((tool, about))

    def _references(self, head: Spot) -> set[Spot]:
        found = self._kept.get(f"said {head}", lambda: sorted(self._server.references(head)))
        return {(path, line, column) for path, line, column in found}

    def _means(self, spot: Spot) -> set[Spot]:
        found = self._kept.get(f"means {spot}", lambda: sorted(self._server.definitions(spot)))
        return {(path, line, column) for path, line, column in found}

    def said(self, kind: str, subject: Subject, new: str) -> set[Spot]:
        """What the server calls references of a symbol, under any of the definitions that keep its name."""
        return self._said(subject, Asked(kind, subject.name, self._spot(*_where(subject)), new))

    def _said(self, subject: Subject, asked: Asked) -> set[Spot]:
        """What the server calls references of a symbol, and of those that have to keep its name."""
        found: set[Spot] = set()
        with self.session.index.snapshot() as snapshot:
            heads = {asked.at} | {self._spot(*one) for one in _heads(snapshot, subject)}
        for head in sorted(heads):
            found |= self._references(head)
        return {one for one in found if self._line(one)[one[2] :].startswith(asked.name)}

    def _shown(self, plan: Plan, kind: str, said: set[Spot], tally: Tally) -> None:
        """What the server names, against what is changed and what is shown."""
        if plan.verdict not in (Verdict.OK, Verdict.NEEDS_DECISION):
            tally.reasons[f"{kind}: {plan.verdict} {plan.problems[0].kind}"] += 1
            return
        sites = {(site.path, site.line) for site in plan.sites}
        shown = sites | {(site.path, site.line) for group in plan.groups for site in group.sites}
        # A server takes `@returns {Store}` in a comment as a reference; a plan lists it among the mentions.
        shown |= {(one.site.path, one.site.line) for one in plan.mentions}
        shown |= {(one.path, one.line) for one in plan.notes if one.path and one.line}
        tally.said[kind] += len(said)
        if plan.verdict is Verdict.OK:
            tally.certain[kind] += sum(one[:2] in sites for one in said)
        else:
            tally.reasons[f"{kind}: {_open_reasons(plan)}"] += 1
        tally.shown[kind] += sum(one[:2] in shown for one in said)
        tally.hidden += [f"{plan.symbol} at {p}:{row}" for p, row, _ in sorted(said) if (p, row) not in shown]

    def _line(self, spot: Spot) -> str:
        file = self._root / spot[0]
        # The server counts the cells of a notebook as files.
        return file.read_text().split("\n")[spot[1] - 1] if file.exists() else ""

    def _spot(self, path: str, line: int, column: int) -> Spot:
        text = self._line((path, line, 0))
        return path, line, len(text.encode()[:column].decode())


def _opened(root: Path) -> RepoSession:
    places = Places.of_user({"HOME": str(root.parent), "PATH": os.environ["PATH"]})
    session = RepoSession.open(Checkout.find(root, places))
    session.index.refresh()
    return session


def _opened_with_tier(root: Path, indexer: Installed) -> RepoSession:
    """A copy of the project in which an indexer has run."""
    twin = root.parent / "with-tier" / root.name
    shutil.copytree(root, twin, symlinks=True, ignore=shutil.ignore_patterns(".codeplane"))
    session = _opened(twin)
    take_in(session.index, twin, indexer, twin.parent / "indexer")
    return session


def _open_reasons(plan: Plan) -> str:
    reasons = {one.kind for one in plan.notes} | {reason for one in plan.groups for reason in one.reasons}
    return ", ".join(sorted(reasons))


def _open_places(plan: Plan) -> set[tuple[str, int, int]]:
    return {
        (site.path, site.line, site.column) for group in plan.groups if group.asks for site in group.sites
    }


def _closed_places(by_structure: Plan, with_tier: Plan) -> Counter[str]:
    """What becomes of the places that are open by structure alone: changed, listed, or another's."""
    listed = {
        (site.path, site.line, site.column)
        for group in with_tier.groups
        if not group.asks
        for site in group.sites
    }
    changed = {(site.path, site.line, site.column) for site in with_tier.sites}
    is_planned = with_tier.verdict in (Verdict.OK, Verdict.NEEDS_DECISION)
    before, after = _open_places(by_structure), _open_places(with_tier)
    gone = before - after if is_planned else set()
    counts = {"inside": gone & changed, "listed": gone & listed, "outside": gone - changed - listed}
    return Counter({OURS: len(before)} | {name: len(places) for name, places in counts.items()})


def copied(corpus: Path, base: Path) -> Path:
    """The project of a corpus as a repository of its own."""
    [project] = [path for path in corpus.iterdir() if path.name != ".git"]
    root = base / "project"
    shutil.copytree(project, root, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def fresh_name(name: str, number: int, language: str = "") -> str:
    """A name that looks like the old one: case can have a meaning."""
    if language == "python":
        return f"renamed_{number}"
    if name.isupper():
        return f"RENAMED_{number}"
    return f"Renamed{number}" if name.lstrip("$#@")[:1].isupper() else f"renamed{number}"


def drawn(session: RepoSession, of_a_kind: int, seed: int, ending: str = ".py") -> list[tuple[str, Subject]]:
    """Kinds and symbols, drawn with a fixed seed from all that a project defines, tests aside."""
    chance = random.Random(seed)
    found: dict[str, list[Subject]] = defaultdict(list)
    with session.index.snapshot() as snapshot:
        for kind in DEFINITIONS:
            items = snapshot.definitions_of_kinds([kind], 100_000).items
            found[kind] += [one for one in items if _is_drawn(one, ending)]
        for one in variables(snapshot):
            kind = "parameter" if is_argument(snapshot, one) else "local"
            found[kind] += [one] if _is_drawn(one, ending) else []
    return [
        (kind, one) for kind in KINDS for one in chance.sample(found[kind], min(of_a_kind, len(found[kind])))
    ]


def variables(snapshot: Snapshot) -> Iterator[Variable]:
    """The variables and parameters of all files."""
    for file in snapshot.files(10_000).items:
        facts = snapshot.facts(file.path)
        seen = set()
        for at in (*facts.binds.of(Reason.PARAM), *facts.binds.of(Reason.LOCAL_ASSIGN)) if facts else ():
            one = variable_of(snapshot, file.path, at)
            if one is not None and one not in seen:
                seen.add(one)
                yield one


def _is_drawn(one: Subject, ending: str) -> bool:
    inside = f"/{one.path}"
    is_source = one.path.endswith(ending) and not one.path.endswith(".d.ts")
    is_source &= not any(f"/{part}" in inside for part in _ELSEWHERE)
    return is_source and not one.name.startswith("__") and one.name not in ("self", "cls", "_")


def _where(subject: Subject) -> tuple[str, int, int]:
    """Path, line and column in bytes."""
    if isinstance(subject, DefFact):
        return subject.path, subject.name_line, subject.name_column
    return subject.path, subject.line, subject.column


def _heads(snapshot: Snapshot, subject: Subject) -> Iterator[tuple[str, int, int]]:
    """Where the definitions stand that have to keep one name."""
    if isinstance(subject, DefFact):
        for place in rename_set_of(snapshot, place_of(subject)).places:
            item = snapshot.definition(place).item
            yield place.path, item.name_line, item.name_column
    else:
        yield from ((one.path, one.line, one.column) for one in variable_set_of(snapshot, subject).variables)


def _of(counts: Counter[tuple[str, str]], tool: str) -> int:
    return sum(count for (one, _), count in counts.items() if one == tool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="names of packages; all where none is given")
    parser.add_argument("--symbols", type=int, default=OF_A_KIND, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    said = parser.parse_args()
    chosen = tuple(one for one in CORPORA if not said.packages or one.name in said.packages)
    for figure in figures(chosen, said.symbols, said.seed, tuple(said.tools)):
        mark = "" if figure.holds else "  MISSED"
        print(f"{figure.name:<48} {figure.value:>8.2f} {figure.unit:<2} {figure.detail}{mark}", flush=True)


if __name__ == "__main__":
    main()
