"""Reports in the form of JUnit, which many runners write."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.documents import Malformed
from codeplane.core.paths import RepoPath
from codeplane.core.xml_text import Element, parse_xml
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runners._places import first_line, first_place, relative
from codeplane.testrun.text import plain, shortened

LARGEST: Final = 32 << 20
LONGEST: Final = 6000
_BAD: Final = {"failure": Status.FAILED, "error": Status.ERROR}


@dataclass(frozen=True)
class Context:
    """What a report is read against."""

    root: Path
    cwd: RepoPath
    owner: Callable[[str, str], str]  # from the class and the file of a test to its target


def read_xml(file: Path) -> Element | None:
    """The root of a document; None for one that is missing, too large or broken. Suites write it: a document
    that brings definitions of its own is not read."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        return parse_xml(data, LARGEST)
    except (OSError, Malformed):
        return None


def junit_cases(file: Path, context: Context) -> list[Case]:
    """The tests that a report tells of."""
    document = read_xml(file)
    return (
        []
        if document is None
        else [_case_of_element(element, context) for element in document.iter("testcase")]
    )


def _case_of_element(element: Element, context: Context) -> Case:
    group = element.get("classname") or element.get("class") or ""
    name = element.get("name") or ""
    file = relative(element.get("file") or "", context.root, context.cwd) if element.get("file") else ""
    status, bad = _status_of(element)
    text = plain("".join(bad.itertext())) if bad is not None else ""
    message = plain(bad.get("message") or "") if bad is not None else ""
    path, line = first_place(text or message, context.root, context.cwd)
    return Case(
        id=f"{group}::{name}" if group else name,
        target=context.owner(group, file),
        status=status,
        seconds=number(element.get("time")),
        message=first_line(message or text),
        kind=((bad.get("type") or "") if bad is not None else "").rpartition(".")[2],
        path=path or (file if bad is not None else ""),
        line=line or (int(number(element.get("line"))) if bad is not None else 0),
        stack=shortened(text.strip(), LONGEST),
        output=shortened("\n".join(_printed_text(element)), LONGEST) if bad is not None else "",
    )


def _status_of(element: Element) -> tuple[Status, Element | None]:
    for tag, status in _BAD.items():
        if (result := element.find(tag)) is not None:
            return status, result
    if element.find("skipped") is not None or element.get("status") in ("notrun", "disabled"):
        return Status.SKIPPED, None
    return Status.PASSED, None


def _printed_text(element: Element) -> Iterator[str]:
    for tag in ("system-out", "system-err"):
        for result in element.findall(tag):
            if result.text and result.text.strip():
                yield plain(result.text.strip())


def number(value: str | None) -> float:
    try:
        return float((value or "0").replace(",", ""))
    except ValueError:
        return 0.0
