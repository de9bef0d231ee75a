"""Code in which a fragment of Python has to parse as one piece of syntax."""

from collections.abc import Mapping
from typing import Final

from codeplane.languages.operations.fragments import Frame
from codeplane.languages.python.import_blocks import IMPORTS

_SIMPLE: Final = ("expression_statement", "assert_statement", "pass_statement", "return_statement")

FRAMES: Final[Mapping[str, Frame]] = {
    "name": Frame("", " = 1", frozenset(("identifier",))),
    "path": Frame("import ", "", frozenset(("dotted_name",))),
    "expression": Frame("def f(a=", "): pass"),
    "type": Frame("def f(a: ", "): pass", frozenset(("type",))),
    "statement": Frame("", "\n", frozenset((*IMPORTS, *_SIMPLE))),
    "decorator": Frame("@", "\ndef f(): pass"),
}
