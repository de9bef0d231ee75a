"""TypeScript with JSX."""

from dataclasses import replace

from codeplane.languages.typescript import SPEC as TYPESCRIPT

SPEC = replace(
    TYPESCRIPT,
    name="tsx",
    function="language_tsx",
    extensions=(".tsx",),
    shebangs=(),
    inherits="typescript",
)
