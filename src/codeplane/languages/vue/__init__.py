"""Vue: the scripts of a component, and what its template says of them."""

from dataclasses import replace

from codeplane.languages.typescript import SPEC as TYPESCRIPT

SPEC = replace(
    TYPESCRIPT,
    name="vue",
    extensions=(".vue",),
    shebangs=(),
    inherits="typescript",
    operations="",
    gaps="Templates are read beside `<script setup>` alone, without kebab-case tags.",
)
