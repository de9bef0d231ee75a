"""Svelte: the scripts of a component, and what its markup says of them."""

from dataclasses import replace

from codeplane.languages.typescript import SPEC as TYPESCRIPT

SPEC = replace(
    TYPESCRIPT,
    name="svelte",
    extensions=(".svelte",),
    shebangs=(),
    inherits="typescript",
    operations="",
    gaps="`bind:name` and `class:name` without a value, and what `$: name = …` declares, are not read.",
)
