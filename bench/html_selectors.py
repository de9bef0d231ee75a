"""Whether selectors name the same elements as an HTML parser with a CSS engine does, on real pages.

The judge is selectolax (the engine Lexbor). Every start tag gets a number as an attribute, so that both
sides name elements by it. `python -m bench.html_selectors -v` prints each difference.
"""

import json
import pydoc
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.programs import from_pypi

from bench.corpora import python_package
from bench.measure import Figure
from codeplane.core.errors import InvalidArgument
from codeplane.languages.html.selectors import document_of, select
from codeplane.languages.html.tokens import START
from codeplane.languages.operations import Source

_PACKAGES: Final = (("lxml", "6.1.3"), ("docutils", "0.23"), ("markdown", "3.8.2"), ("scrapy", "2.13.3"))
_MODULES: Final = (
    "argparse",
    "json",
    "logging",
    "email.message",
    "html.parser",
    "unittest.case",
    "zipfile",
    "typing",
)
_MOST_PAGES: Final = 30  # of a package
_LARGEST: Final = 150_000
_MARK: Final = "data-number"
SELECTORS: Final = (
    "a", "*", "p", "li", "tr", "body > *", "head > *", "a[href]", "a:not([href])", "img:not([alt])",
    "[id]", "[class]", "div p", "div > p", "ul > li", "table > tbody > tr", "tr > td", "td + td",
    "h2 ~ p", "li:first-child", "li:last-child", "p:only-child", "td:nth-child(2n+1)",
    "tr:nth-child(even)", "p:nth-of-type(2)", "p:nth-last-child(-n+2)", "span:empty", ":empty",
    "a[href^='http']", "a[href$='.html']", "a[href*='#']", "[class~='reference']", "[class*='E' i]",
    "[lang|='en']", "p:has(a)", "li:has(> ul)", "h1 + p", "p:has(+ ul)", ":is(h1, h2, h3) a",
    "pre span:not(:first-child)", "dl > dd", "dt + dd", "option", "form input",
    "body > div:nth-child(1)", "a, b, i, tt", "font", "b i", "a[target='_BLANK']", "title", "textarea *",
    "script *",
)  # fmt: skip
_JUDGE: Final = """
import json, sys
from selectolax.lexbor import LexborHTMLParser
selectors = json.loads(sys.argv[1])
for line in sys.stdin:
    tree = LexborHTMLParser(open(line.rstrip("\\n"), "rb").read())
    answers = {}
    for selector in selectors:
        try:
            nodes = tree.css(selector)
        except Exception:
            continue
        answers[selector] = [node.attributes.get("data-number") for node in nodes]
    print(json.dumps(answers), flush=True)
"""


def figures() -> Iterator[Figure]:
    python = from_pypi("selectolax", "1.0.2") / "python"
    pages = list(_pages())
    numbered = Path(python).parents[1] / "pages"
    numbered.mkdir(exist_ok=True)
    files = []
    for index, (_, data) in enumerate(pages):
        files.append(numbered / f"{index}.html")
        files[-1].write_bytes(_with_numbers(data))
    command = [str(python), "-c", _JUDGE, json.dumps(SELECTORS)]
    judged = subprocess.run(
        command, input="\n".join(map(str, files)), capture_output=True, text=True, check=True
    )
    total = equal = same_pages = 0
    for (name, _), file, line in zip(pages, files, judged.stdout.splitlines(), strict=True):
        answers, source = json.loads(line), Source("html", file.read_bytes())
        if not document_of(source).is_page:
            # The judge puts a page around every fragment.
            answers = {item: answers[item] for item in answers if not item.startswith(("body", "head"))}
        differences = [item for item in answers if _ours(source, item) != _as_set(answers[item])]
        total, equal = total + len(answers), equal + len(answers) - len(differences)
        same_pages += not differences
        if "-v" in sys.argv and differences:
            _print_differences(name, source, differences, answers)
    detail = f"{equal} of {total} answers, {same_pages} of {len(pages)} pages, {len(SELECTORS)} selectors"
    yield Figure("HTML selectors that differ", 100 * (1 - equal / total), "%", 1.0, detail)


def _print_differences(
    name: str, source: Source, differences: list[str], answers: dict[str, list[str]]
) -> None:
    faults = [(source.line_of(fault.offset), fault.reason) for fault in document_of(source).faults[:4]]
    print(name, faults)
    for selector in differences[:6]:
        ours, theirs = _ours(source, selector), _as_set(answers[selector])
        print(
            f"    {selector}: only ours {sorted(ours - theirs)[:8]}, only theirs {sorted(theirs - ours)[:8]}"
        )


def _as_set(numbers: list[str]) -> set[str]:
    """The numbers of elements that are written; the implied ones have none."""
    return {number for number in numbers if number}


def _ours(source: Source, selector: str) -> set[str]:
    document = document_of(source)
    numbers = set()
    for match in select(source, selector):
        element = document.element_at(match.node.start_byte)
        if element is not None:
            numbers.add(element.values(document.data, False).get(_MARK, "?"))
    return numbers


def _with_numbers(data: bytes) -> bytes:
    """The page with a number in every start tag that is no text of a raw element."""
    try:
        tags = document_of(Source("html", data)).tags
    except InvalidArgument:
        return data
    parts, last = [], 0
    for number, tag in enumerate(item for item in tags if item.kind == START):
        parts += [data[last : tag.name_end], f' {_MARK}="{number}"'.encode()]
        last = tag.name_end
    return b"".join((*parts, data[last:]))


def _pages() -> Iterator[tuple[str, bytes]]:
    for name, version in _PACKAGES:
        files = sorted(python_package(name, version).rglob("*.htm*"))
        usable = [file for file in files if file.is_file() and 500 < file.stat().st_size < _LARGEST]
        chosen = random.Random(name).sample(usable, min(_MOST_PAGES, len(usable)))
        for file in sorted(chosen):
            yield f"{name}/{file.name}", file.read_bytes()
    for module in _MODULES:
        yield f"pydoc {module}", _pydoc_page(module)


def _pydoc_page(module: str) -> bytes:
    page = pydoc.HTMLDoc().page(module, pydoc.HTMLDoc().document(pydoc.locate(module), module))
    return page.encode()


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure.name}: {figure.value:.2f} {figure.unit} ({figure.detail})")
