"""What a repository needs: by its manifests, and by the modules that its files import."""

import re
from collections import Counter
from itertools import islice
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import Imported, Snapshot
from codeplane.search.overview.manifests import needs, own_names

_EXAMPLES: Final = 3
_MOST_SOURCES: Final = 300
# A scope and a package; a host and what it has; a domain turned around and what it has; the first name.
_TOP: Final = re.compile(
    r"@[^/]+/[^/]+|[\w-]+\.[\w.-]+/[^/]+(?:/[^/]+)?|(?:com|org|net|io|dev|edu|gov)\.\w+|<?[^./:\\]+"
)


def required(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Packages behind the manifest that asks for them; "" behind one that asks for none."""
    manifests = list(needs(snapshot))
    packages = [(shown(one.manifest), package) for one in manifests for package in one.packages or ("",)]
    if len(manifests) == 1 and not manifests[0].packages and (names := _imported_at_least(snapshot)):
        return [(shown(manifests[0].manifest), f"nothing declared, but imports {', '.join(names)}")]
    return packages


def _imported_at_least(snapshot: Snapshot) -> list[str]:
    """The packages from elsewhere that files of a package import whenever they are loaded.

    An import that is indented may be optional, for types only, or made by nobody: `try`, `if TYPE_CHECKING`.
    A file of the outermost directory may be of the build.
    """
    inside = own_names(snapshot)
    counts: Counter[str] = Counter()
    sources = (path for path in snapshot.layout.ordered if "/" in path and _is_source(snapshot, path))
    for path in islice(sources, _MOST_SOURCES):
        facts = snapshot.facts(path)
        if facts is None or not facts.spec.standard:
            continue
        lines = snapshot.source(path).split(b"\n") if facts.imports else []
        for item in facts.imports:
            match = _TOP.match(item.module)
            top = match[0] if match else ""
            if not top or top in inside or re.match(facts.spec.standard, item.module):
                continue
            if lines[item.line - 1][:1].isspace() or snapshot.named_module(path, item.module, item.kind):
                continue
            counts[top] += 1
    return [shown(name) for name, _ in counts.most_common(_EXAMPLES)]


def _is_source(snapshot: Snapshot, path: RepoPath) -> bool:
    return snapshot.purpose(path) is Purpose.SOURCE


def dependencies(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Packages behind their manifest, then modules as often as they are imported: those of the standard
    library of a language, those from elsewhere, and those of the repository itself."""
    packages = required(snapshot)
    parties: dict[str, Counter[str]] = {
        "third_party": Counter(), "standard_library": Counter(), "first_party": Counter(),
    }  # fmt: skip
    inside = dict.fromkeys(own_names(snapshot), True)
    attempts: Counter[str] = Counter()
    for one in snapshot.overview.imports():
        match = _TOP.match(one.module)
        if match is None:
            continue
        top = match[0].removeprefix("<")
        if not inside.get(top) and attempts[top] < _EXAMPLES:
            attempts[top] += 1
            inside[top] = bool(snapshot.named_module(one.path, one.module, one.kind))
        standard = "" if inside.get(top) else _standard(snapshot, one)
        parties["standard_library" if standard else "third_party"][standard or top] += one.times
    for top in [top for top in parties["third_party"] if inside.get(top)]:
        parties["first_party"][top] = parties["third_party"].pop(top)
    for party, counts in parties.items():
        packages += [(party, f"{shown(name)} ×{count}") for name, count in counts.most_common()]
    return packages


def _standard(snapshot: Snapshot, one: Imported) -> str:
    """The name that the standard library of the importing file's language has for a module; "" for none."""
    facts = snapshot.require_facts(one.path)
    pattern = facts.spec.standard
    match = re.match(pattern, one.module) if pattern else None
    return match[0].strip("<>") if match else ""
