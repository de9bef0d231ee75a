"""Which names Rust lets a program choose."""

from collections.abc import Sequence
from typing import Final

from codeplane.languages.operations import Arguments

# Those of every edition: a name that is one in a later edition only would stop a migration.
_KEYWORDS: Final = frozenset(
    "as break const continue else enum extern false fn for if impl in let loop match mod move mut pub ref"
    " return static struct trait true type unsafe use where while async await dyn abstract become box do"
    " final macro override priv typeof unsized virtual yield try gen".split()
)
_PATH_WORDS: Final = frozenset(("self", "Self", "super", "crate", "_"))


def name_errors(arguments: Arguments, key: str) -> Sequence[str]:
    """What is wrong with a name that is to be bound."""
    name = arguments.text(key).strip()
    if name.removeprefix("r#") in _PATH_WORDS:
        return [f"`{key}`: `{name}` has a meaning of its own."]
    if name in _KEYWORDS:
        return [f"`{key}`: `{name}` is a keyword; send `r#{name}`."]
    return []
