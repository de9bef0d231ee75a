"""Code in which a fragment of JavaScript or TypeScript has to parse as one piece of syntax."""

from collections.abc import Mapping
from typing import Final

from codeplane.languages.operations.fragments import Frame

_STATEMENTS: Final = (
    "import_statement",
    "lexical_declaration",
    "variable_declaration",
    "expression_statement",
)

FRAMES: Final[Mapping[str, Frame]] = {
    "name": Frame("var ", " = 1", frozenset(("identifier",))),
    "expression": Frame("function f(a = ", ") {}"),
    "type": Frame("function f(a: any): ", " {}", languages=frozenset(("typescript", "tsx"))),
    "statement": Frame("", "\n", frozenset(_STATEMENTS)),
    "decorator": Frame("@", "\nclass A {}"),
}
