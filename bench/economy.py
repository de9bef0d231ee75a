"""Everyday questions of an agent, answered by these tools and by the commands that it would type otherwise.

Each side has to come up with the same evidence; counted are calls, characters (what is sent and what comes
back) and seconds.
"""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from bench import repair
from bench.corpora import npm_package, python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

_GREP = "rg -n --no-heading"
_ERRORS = "package/src/v4/core/errors.ts"


@dataclass(frozen=True)
class Question:
    """`evidence`: what has to be in the answers of both sides."""

    asked: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    commands: tuple[str, ...]
    evidence: tuple[str, ...]


DJANGO = (
    Question(
        "Where is QuerySet.bulk_create defined, what does it take, who calls it in the package?",
        (("symbols_get_card", {"symbol": "QuerySet.bulk_create"}),
         ("refs_find", {"symbol": "QuerySet.bulk_create", "path": "django"})),
        (f"{_GREP} 'def bulk_create' django", "sed -n 745,775p django/db/models/query.py",
         f"{_GREP} '\\bbulk_create\\(' django"),
        ("django/db/models/query.py", "ignore_conflicts", "django/contrib/auth/management/__init__.py"),
    ),
    Question(
        "Show these three functions.",
        (("read_source", {"targets": ["utils.text.slugify", "Truncator.chars", "urls.base.reverse"]}),),
        ("rg -n --heading -A 30 'def slugify\\b' django", "rg -n --heading -A 30 'def chars\\b' django",
         "rg -n --heading -A 90 'def reverse\\b' django/urls"),
        ("def slugify", "def chars", "def reverse", "NoReverseMatch"),
    ),
    Question(
        "What does django/utils/text.py define?",
        (("symbols_search", {"path": "django/utils/text.py"}),),
        ("cat django/utils/text.py",),
        ("slugify", "Truncator", "compress_string"),
    ),
    Question(
        "Which classes derive from BaseCommand?",
        (("types_hierarchy", {"symbol": "BaseCommand"}),),
        (f"{_GREP} 'class \\w+\\(.*(Base|App|Label|Template|Runserver)Command' django tests",
         f"{_GREP} 'import .*BaseCommand' django tests"),
        ("django/core/management/commands/migrate.py", "LabelCommand"),
    ),
    Question(
        "Which tests cover slugify?",
        (("graph_callers", {"symbol": "django.utils.text.slugify", "depth": 3}),),
        (f"{_GREP} '\\bslugify\\b' tests", "sed -n 370,402p tests/utils_tests/test_text.py",
         f"{_GREP} 'slugify' django/template/defaultfilters.py"),
        ("test_slugify", "tests/template_tests/filter_tests/test_slugify.py"),
    ),
    Question(
        "What changed structurally in the query module since 5.1?",
        (("semantic_diff", {"base": "5.1", "target": "5.2", "paths": ["django/db/models/query.py"]}),),
        ("git diff 5.1 5.2 -- django/db/models/query.py",),
        ("_prepare_for_bulk_create", "values_list"),
    ),
    Question(
        "Where is the setting SECURE_SSL_REDIRECT used?",
        (("search", {"query": "SECURE_SSL_REDIRECT", "paths": ["django/"]}),),
        (f"{_GREP} SECURE_SSL_REDIRECT django", "sed -n 1,30p django/middleware/security.py"),
        ("django/middleware/security.py", "django/conf/global_settings.py"),
    ),
    Question(
        "What is this repository, and where does it begin?",
        (("map_repo", {"include": ["structure", "entry_points", "dependencies"]}),),
        ("git ls-files | cut -d/ -f1-2 | sort | uniq -c | sort -rn | head -60", "cat README.rst",
         "cat pyproject.toml"),
        ("django-admin", "django"),
    ),
)  # fmt: skip

ZOD = (
    Question(
        "Where is safeParse defined and who calls it in v4's core?",
        (("refs_find", {"symbol": "package/src/v4/core/parse.ts:safeParse", "path": "package/src"}),),
        (f"{_GREP} 'safeParse\\b.*=' package/src/v4/core", f"{_GREP} '\\bsafeParse\\(' package/src/v4"),
        ("package/src/v4/core/parse.ts",),
    ),
    Question(
        "What does v4/core/util.ts export?",
        (("symbols_search", {"path": "package/src/v4/core/util.ts"}),),
        ("cat package/src/v4/core/util.ts",),
        ("cleanRegex", "floatSafeRemainder"),
    ),
    Question(
        "What builds on the interface _$ZodType?",
        (("types_hierarchy", {"symbol": "package/src/v4/core/schemas.ts:_$ZodType"}),),
        (f"{_GREP} 'extends _\\$ZodType\\b' package/src",
         f"{_GREP} 'interface \\$Zod\\w+' package/src"),
        ("$ZodString",),
    ),
    Question(
        "Show the functions that prettify and flatten errors.",
        (("read_source", {"targets": [f"{_ERRORS}:prettifyError", f"{_ERRORS}:flattenError"]}),),
        (f"{_GREP} 'function (prettifyError|flattenError)' package/src/v4/core",
         "sed -n 200,232p package/src/v4/core/errors.ts", "sed -n 400,440p package/src/v4/core/errors.ts"),
        ("prettifyError", "flattenError"),
    ),
)  # fmt: skip


def figures() -> Iterator[Figure]:
    if shutil.which("rg") is None:
        raise SystemExit("economy compares with ripgrep: install Debian's package `ripgrep`.")
    yield from _asked(python_history("django", ("5.1", "5.2")), DJANGO)
    yield from _asked(npm_package("zod", "4.1.12"), ZOD)
    yield from repair.figures()


def _asked(root: Path, questions: tuple[Question, ...]) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as home:
        user = {"HOME": home, "TMPDIR": home}
        session = RepoSession.open(Checkout.find(root, Places.of_user(user), []))
        try:
            session.index.refresh()
            pipeline = Pipeline(session, all_tools())
            for question in questions:
                yield _figure(question, _ours(pipeline, question), _theirs(root, question))
        finally:
            session.close()


@dataclass(frozen=True)
class Spent:
    calls: int
    characters: int
    seconds: float


def _figure(question: Question, ours: Spent, theirs: Spent) -> Figure:
    told = (
        f"{ours.characters} characters, {ours.calls} call(s), {ours.seconds * 1e3:.0f} ms; shell"
        f" {theirs.characters}, {theirs.calls}, {theirs.seconds * 1e3:.0f} ms"
    )
    ratio = ours.characters / theirs.characters
    if ours.calls > theirs.calls:  # it has lost, however short its answer is
        ratio = max(ratio, ours.calls / theirs.calls)
    return Figure(question.asked, ratio, "×", 1, told)


def _ours(pipeline: Pipeline, question: Question) -> Spent:
    started = time.perf_counter()
    texts = []
    for tool, arguments in question.calls:
        answer = anyio.run(pipeline.call, Request(tool, arguments, "bench"))
        assert not answer.is_error, (question.asked, answer.body["error"])
        texts += [json.dumps({"name": tool, "arguments": arguments}), answer.text]
    seconds = time.perf_counter() - started
    _check(question, texts)
    return Spent(len(question.calls), sum(map(len, texts)), seconds)


def _theirs(root: Path, question: Question) -> Spent:
    started = time.perf_counter()
    texts = []
    for command in question.commands:
        done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True)
        texts += [command, done.stdout]
    seconds = time.perf_counter() - started
    _check(question, texts)
    return Spent(len(question.commands), sum(map(len, texts)), seconds)


def _check(question: Question, texts: list[str]) -> None:
    missing = [one for one in question.evidence if not any(one in text for text in texts)]
    assert not missing, f"{question.asked} The answer lacks {missing}."
