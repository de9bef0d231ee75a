import pytest

from codeplane.languages import extractor_version, language_of, possible_languages, specs, support_table
from codeplane.languages.facts import KINDS
from codeplane.languages.spec import part_of


@pytest.mark.parametrize(
    ("name", "first", "language"),
    [
        ("a/b.py", b"", "python"),
        ("B.PYI", b"", "python"),
        ("bin/tool", b"#!/usr/bin/env python3\n", "python"),
        ("bin/tool", b"#!/usr/bin/env -S FOO=1 python3.12 -u\n", "python"),
        ("bin/run", b"#!/bin/sh\n", "bash"),
        ("bin/run", b"#!/usr/bin/env zsh\n", "bash"),
        ("Dockerfile", b"", "dockerfile"),
        ("bin/tool", b"#!/usr/bin/perl\n", None),
        ("notes.unknown", b"#!/usr/bin/python\n", None),
        ("py", b"", None),
    ],
)
def test_language_of_a_file(name: str, first: bytes, language: str | None) -> None:
    assert language_of(name, first) == language


def test_of_languages_that_claim_the_same_file_all_but_one_know_it_by_its_content() -> None:
    claims = [ext for spec in specs().values() for ext in (*spec.extensions, *spec.filenames)]
    for name in {one for one in claims if claims.count(one) > 1}:
        silent = [language for language in possible_languages(name) if part_of(language, "content") is None]
        assert len(silent) == 1, name


@pytest.mark.parametrize("language", specs())
def test_a_spec_is_named_for_its_folder(language: str) -> None:
    spec = specs()[language]
    assert spec.name == language
    assert len(extractor_version(language)) == 16
    assert set(spec.decorator_kinds.values()) | set(spec.class_kinds.values()) <= KINDS


def test_the_support_table_has_a_row_for_each_language() -> None:
    rows = support_table().splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(specs())
