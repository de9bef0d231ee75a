"""What a repository needs: by its manifests, and by the modules that its files import."""

import re
from collections import Counter
from typing import Final

from codeplane.jail import shown
from codeplane.names import Imported, Snapshot
from codeplane.search.overview.manifests import needs, own_names

_EXAMPLES: Final = 3
# A scope and a package; a host and what it has; a domain turned around and what it has; the first name.
_TOP: Final = re.compile(
    r"@[^/]+/[^/]+|[\w-]+\.[\w.-]+/[^/]+(?:/[^/]+)?|(?:com|org|net|io|dev|edu|gov)\.\w+|<?[^./:\\]+"
)


def required(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Packages behind the manifest that asks for them; "" behind one that asks for none."""
    return [(shown(one.manifest), package) for one in needs(snapshot) for package in one.packages or ("",)]


def dependencies(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Packages behind their manifest, then modules as often as they are imported: those of the standard
    library of a language, those from elsewhere, and those of the repository itself."""
    packages = required(snapshot)
    parties: dict[str, Counter[str]] = {
        "third_party": Counter(), "standard_library": Counter(), "first_party": Counter(),
    }  # fmt: skip
    inside = dict.fromkeys(own_names(snapshot), True)
    tried: Counter[str] = Counter()
    for one in snapshot.overview.imports():
        match = _TOP.match(one.module)
        if match is None:
            continue
        top = match[0].removeprefix("<")
        if not inside.get(top) and tried[top] < _EXAMPLES:
            tried[top] += 1
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
