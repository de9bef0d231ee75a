"""How Rust code reaches definitions other than by their written names."""

import re
from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class RustReflection(ReflectionRules):
    """The reflection of Rust."""

    pastes_tokens = True
    decorator = r"#!?\[\s*(?!derive\b)([\w:]+)|(?<=[(,\s])([A-Z]\w+)(?=\s*[,)])"
    decorator_mark = ""
    transparent_decorators = frozenset(
        "inline allow warn deny expect must_use cfg cfg_attr doc deprecated track_caller cold non_exhaustive"
        " repr test ignore should_panic skip target_feature default automatically_derived Debug Clone Copy"
        " PartialEq Eq PartialOrd Ord Hash Default".split()
    )

    def interpolated_name(self, name: str) -> str:
        """`println!("{name}")`, `{name:?}`."""
        return rf"\{{{re.escape(name)}[:}}]"


RULES: Final = RustReflection()
