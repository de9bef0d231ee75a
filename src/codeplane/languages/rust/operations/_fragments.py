"""Code in which a fragment of Rust has to parse as one piece of syntax."""

from collections.abc import Mapping
from typing import Final

from codeplane.languages.operations.fragments import Frame

IMPORTS: Final = ("use_declaration", "extern_crate_declaration")

FRAMES: Final[Mapping[str, Frame]] = {
    "name": Frame("fn f(", ": u8) {}", frozenset(("identifier",))),
    "path": Frame("use ", ";", frozenset(("identifier", "scoped_identifier", "crate", "self", "super"))),
    "expression": Frame("fn f() { let a = ", "; }"),
    "type": Frame("fn f(a: ", ") {}"),
    "attribute": Frame("#[", "]\nfn f() {}", frozenset(("attribute",))),
    "pattern": Frame("fn f(", ": u8) {}"),
}
