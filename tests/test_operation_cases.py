"""Each operation does to a file what its case says, in every form of the file, and nothing a second time."""

import pytest

from codeplane.languages.operations import Source, operations_of
from codeplane.languages.spec import specs
from tests.operation_cases import FOLDER, OperationCase, answer_of, operation_cases, shaped

CASES = list(operation_cases())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_operation_makes_of_a_file_what_its_case_says(case: OperationCase) -> None:
    outcome, result, notes = answer_of(case, case.parts["before"].encode())
    if isinstance(result, str):
        assert (outcome, result) == ("refused", case.parts.get("refused", "").strip())
        return
    assert result.decode() == case.parts.get("after", case.parts["before"])
    assert ("after" in case.parts) == (outcome == "after")
    assert notes == case.parts.get("notes", "").splitlines()
    if outcome == "after":
        _assert_parses_as_well(case, result)
        assert answer_of(case, result)[:2] == ("already", result)


def _assert_parses_as_well(case: OperationCase, result: bytes) -> None:
    before = Source(case.language, case.parts["before"].encode()).root.has_error
    assert before or not Source(case.language, result).root.has_error


VARIANTS = [(case, form) for case in CASES if "after" in case.parts for form in case.forms]


@pytest.mark.parametrize(("case", "form"), VARIANTS, ids=[f"{case.name}-{form}" for case, form in VARIANTS])
def test_the_form_of_a_file_is_kept(case: OperationCase, form: str) -> None:
    before = shaped(form, case.language, case.parts["before"])
    _, result, _ = answer_of(case, before)
    assert result == shaped(form, case.language, case.parts["after"])


def test_every_operation_has_cases_and_every_case_an_operation() -> None:
    files = {(file.parent.name, file.stem) for file in FOLDER.glob("*/*.txt")}
    for language, name in files:
        assert name in operations_of(language), (language, name)
    for language in specs():
        for name, operation in operations_of(language).items():
            if operation.compute_edit.__module__.startswith(f"codeplane.languages.{language}."):
                assert (language, name) in files, (language, name)
                assert operation.summary.endswith("."), (language, name)


def test_titles_of_cases_are_told_apart() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_new_lines_end_like_those_around_them() -> None:
    mixed = b"import os\r\n\r\ndef f(a):\n    return a\r\n"
    first = next(case for case in CASES if case.name == "python-add_decorator-first_decorator_63")
    outcome, result, _ = answer_of(first, mixed)
    assert outcome == "after" and isinstance(result, bytes)
    assert result.splitlines(keepends=True)[2:4] == [b"@cache\n", b"def f(a):\n"]
    assert result.replace(b"@cache\n", b"") == mixed
