"""Whether code may use a framework at all, told without loading the rules: most servers need none of them."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from codeplane.names import Snapshot

RULES: Final = Path(__file__).parent / "rules"
_IMPORTS: Final = re.compile(r"^imports:\s*((?:\[[^\]]*\])|(?:\n\s*-.*)+)", re.MULTILINE)
_NAME: Final = re.compile(r"[^\s,\[\]\"'#]+")
_PARTS: Final = re.compile(r"::|[/.\\]")
# Languages with frameworks that need no import: `Rails.application.routes.draw`, `rpc` of a service.
_WITHOUT_IMPORTS: Final = frozenset({"ruby", "php", "proto", "csharp"})


def may_use_frameworks(snapshot: Snapshot) -> bool:
    """Whether a file imports something that is called like a part of a framework, or needs no import."""
    return bool(snapshot.importing(import_parts()) or snapshot.lookup.in_languages(_WITHOUT_IMPORTS))


@cache
def import_parts() -> frozenset[str]:
    """The parts of all names that the rules of endpoints want imported."""
    parts: set[str] = set()
    for file in (*RULES.glob("*.yaml"), *RULES.glob("flow/*.yaml"), *RULES.glob("annotated/*.yaml")):
        for names in _IMPORTS.findall(file.read_text()):
            for name in _NAME.findall(names):
                parts.update((name, *_PARTS.split(name)))
    return frozenset(parts - {""})
