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
    operations="javascript",
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
