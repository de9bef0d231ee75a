"""TypeScript."""

from dataclasses import replace

from codeplane.languages.javascript import SPEC as JAVASCRIPT
from codeplane.languages.style import HeaderStyle
from codeplane.languages.typescript.annotations import (
    awaited_type,
    declared_type,
    other_parts,
    returned_type,
)

SPEC = replace(
    JAVASCRIPT,
    name="typescript",
    grammar="tree_sitter_typescript",
    function="language_typescript",
    extensions=(".ts", ".mts", ".cts"),
    shebangs=("ts-node", "tsx", "deno", "bun"),
    inherits="javascript",
    silent_kinds=frozenset(("interface", "type")),
    own_queries=(),
    # Values, types and namespaces are named apart. A namespace is a value too where no other has its name.
    spaces={
        "interface": "t",
        "type": "t",
        "type_param": "t",
        "class": "vt",
        "enum": "vtn",
        "namespace": "n",
        "module": "-",
        "js_import": "vtn",
        "js_require": "vtn",
        "js_dynamic": "vtn",
        "ts_alias": "vtn",
    },
    looks={"type": ("t",), "namespace": ("n",), "export": ("vtn",)},
    open_kinds=frozenset(("enum_member",)),
    held_types="first",
    declared_self=(
        r"\??\s*(?:<[^(){}]*(?:\([^()]*\)[^(){}]*)*>)?\s*"
        r"\(\s*this\s*:\s*(?:(\w+)\s*(?:<[^()&|]*>\s*)?[,)])?"
    ),
    declared_type=declared_type,
    returned_type=returned_type,
    awaited_type=awaited_type,
    promise="Promise",
    other_parts=other_parts,
    own_types=frozenset(("this",)),
    guards=r"\)\s*:\s*(?:asserts\s+)?([\w$]+)\s+is\s+(.+)\Z",
    guard_word=" is ",
    bare_types=frozenset("bigint boolean false null number symbol true undefined void".split()),
    header=HeaderStyle(
        typed=True,
        inferred=True,
        unsaid="public",
        angles=True,
        rest=("...",),
        words=frozenset("public private protected readonly override".split()),
        receivers=frozenset(("this",)),
    ),
)
