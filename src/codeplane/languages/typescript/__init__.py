"""TypeScript."""

from dataclasses import replace

from codeplane.languages.javascript import SPEC as JAVASCRIPT
from codeplane.languages.style import HeaderStyle

SPEC = replace(
    JAVASCRIPT,
    name="typescript",
    grammar="tree_sitter_typescript",
    function="language_typescript",
    extensions=(".ts", ".mts", ".cts"),
    shebangs=("ts-node", "tsx", "deno", "bun"),
    inherits="javascript",
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
    declared_self=(
        r"\??\s*(?:<[^(){}]*(?:\([^()]*\)[^(){}]*)*>)?\s*"
        r"\(\s*this\s*:\s*(?:(\w+)\s*(?:<[^()&|]*>\s*)?[,)])?"
    ),
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
