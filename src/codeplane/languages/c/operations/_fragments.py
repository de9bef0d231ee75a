"""Code in which a fragment of C has to parse as one piece of syntax."""

from collections.abc import Mapping
from typing import Final

from codeplane.languages.operations.fragments import Frame

FRAMES: Final[Mapping[str, Frame]] = {
    "name": Frame("int ", " = 1;", frozenset(("identifier",))),
    "expression": Frame("int a = f(", ");"),
    "type": Frame("void f(", ");", frozenset(("parameter_declaration",))),
}
