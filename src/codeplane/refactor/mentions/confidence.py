"""How sure it is that a comment or a document means the definition whose name it has."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.index import Purpose
from codeplane.languages.facts import Reason
from codeplane.languages.style import is_remark
from codeplane.names import Codebase, FileFacts
from codeplane.refactor.mentions.examples import Page, page_of, without_leader
from codeplane.refactor.mentions.test_titles import is_titled
from codeplane.refactor.mentions.words import CODE_LIKE, Word, is_history, texts_in
from codeplane.refactor.plan import Confidence, Mention, MentionForm
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.text import Lines

_DEFINES: Final = r"\b(?:def|class|func|fun|fn|function|interface|struct|trait|enum|type|const|let|var)"
_APART: Final = re.compile(r"\.|::?|/|#|->|\\")
_INLINE: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# `:param int size:`; `@param {number} [size]`, `\param[in] size`. Prose may follow: `@param a of this size`.
_PARAMETER: Final = re.compile(
    r":(?:param|arg|argument|key|keyword|type)\b[^:]*\Z|"
    r"[@\\](?:param|arg|argument|key|keyword|type|p)\b\s*(?:\{[^{}]*\}|\[[\w,]*\])?\s*\[?\Z"
)
_SUBJECT: Final = re.compile(
    r"\.\.\s+(?:\w+:)?(?:auto)?(?:class|function|method|attribute|data|exception|property|decorator)::\s*\Z"
)
_MEMBERS: Final = re.compile(r":(?:exclude-)?members:[\w\s,]*\Z")
_FILES: Final = re.compile(
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|go|rs|rb|java|kt|cs|php|c|h|cpp|md|rst|txt|html?|css|json|ya?ml|toml|cfg|ini|lock|"
    r"org|com|io|net|dev)\Z"
)
_TELLS: Final = re.compile(r"\s+(?:[a-z]+s|has|implements)\b")
_KIND: Final = re.compile(r"\s+(?:methods?|functions?|types?|fields?|structs?|interfaces?)\b")
_OUTPUT: Final = re.compile(r"\s*(?:Unordered )?[Oo]utput:")
_VARIABLES: Final = (Reason.PARAM, Reason.LOCAL_ASSIGN)


@dataclass
class Speakers:
    """The comments and documents that have a name, and what each of them can mean by it."""

    snapshot: Codebase
    rename_set: RenameSet
    holders: Collection[str]  # names that may stand before it
    showing: Collection[str]  # files that import or export it
    _pages: dict[RepoPath, Page] = field(default_factory=dict)
    _variable_spans: dict[RepoPath, list[tuple[int, int, int]]] = field(default_factory=dict)

    def mentions(self, mention_words: Collection[Word]) -> Iterator[Mention]:
        """The words in comments and documents, each with how sure it is that the definition is meant."""
        own = {word.site.path for word in mention_words if word.where == "document" and _is_defined(word)}
        for word in mention_words:
            is_past = is_history(word.site.path)
            if word.where == "prose":
                yield Mention(word.site, "low", is_past=is_past, form="output")
            elif word.where in ("comment", "document"):
                confidence = self._confidence(word, own)
                yield Mention(word.site, confidence, is_past=is_past, form=self._form(word))

    def _form(self, word: Word) -> MentionForm:
        page, (before, after) = self._page(word), _sides(word)
        if word.where == "comment" and _is_printed(page, word.site.line):
            return "output"
        is_inline = _inline(before, word.site.old, after) is not None
        is_code = word.site.line in page.code or is_inline or after.startswith("(")
        return "code" if is_code or before.endswith((".", "::", "->", "#")) else "prose"

    def _confidence(self, word: Word, own: Collection[str]) -> Confidence:
        if is_history(word.site.path) or self._is_variable(word):
            return "low"
        before, after = _sides(word)
        page = self._page(word)
        is_code = word.site.line in page.code
        if before.endswith((".", "::", "->", "#", "/", "\\")):
            return self._behind(word, before, page)
        if _ends_in_file(after) or re.match(r"[/\\]\w", after):
            return "low"
        modules = page.imported.get(word.site.old, set())
        if modules and not self._is_ours(modules):
            return "low"
        if word.where == "comment" and _is_printed(page, word.site.line):
            return "low"
        if self._is_own_comment(word, after):
            return "high"
        if word.site.path in own or not (self._is_only(word) or modules or self._is_here(word)):
            return "low"
        return self._standing(before, after, is_code, bool(modules))

    def _is_own_comment(self, word: Word, after: str) -> bool:
        """Whether a comment stands above the definition itself and begins with its name, as Go has them:
        `Load reads a file.` In a comment above another definition, or in a sentence, it is a word."""
        page, line = self._page(word), word.site.line
        if word.where != "comment" or line - 1 in page.lines or not _TELLS.match(after):
            return False
        name_lines = {self.snapshot.definition(one).name_line for one in self._own_places(word.site.path)}
        return page.lines[line].startswith(word.site.old) and self._beside(word)[1] in name_lines

    def _own_places(self, path: str) -> list[Place]:
        return [one for one in self.rename_set.places if one.path == path]

    def _standing(self, before: str, after: str, is_code: bool, is_imported: bool) -> Confidence:
        """What a name is that stands alone or first, and that nothing else has."""
        name = self.rename_set.name
        is_called = after.startswith("(")
        if is_code:
            if re.match(r"\s*=(?!=)|['\"]", after) or re.search(r"['\"]\Z", before):
                return "low"
            is_name = (
                is_called or is_imported or bool(CODE_LIKE.search(name)) or self.rename_set.kind in CLASSES
            )
            is_name = is_name or before.endswith("@")
            return "high" if is_name and (is_called or not self.rename_set.is_member) else "low"
        inline = _inline(before, name, after)
        if before.endswith("[") and re.match(r"\](?![(\[:])", after):
            return self._marked(name, after[1:])  # a link of a comment: `[Load]`
        if inline is not None or _SUBJECT.search(before) or _MEMBERS.search(before):
            return self._marked(inline[2] if inline else name, after)
        is_spoken = name[:1].isupper() and bool(_KIND.match(after))  # `the Load method`
        return "medium" if CODE_LIKE.search(name) or is_called or is_spoken else "low"

    def _marked(self, text: str, after: str) -> Confidence:
        """What a name is that stands in backquotes, with what stands there with it."""
        name = re.escape(self.rename_set.name)
        if re.match(r"\s*=(?!=)", after):
            return "low"
        if re.fullmatch(rf"[~.!@]?{name}(?:\(\))?|[^`<]*<[~.!]?{name}>", text):
            is_called = text.endswith("()")
            return "low" if self._is_parameter and not is_called and not CODE_LIKE.search(text) else "high"
        is_used = bool(re.match(r"[(.\[<]|::", after)) and not self._is_parameter
        return (
            "high"
            if is_used or self.rename_set.kind in CLASSES
            else "low"
            if self.rename_set.is_member
            else "medium"
        )

    def _behind(self, word: Word, before: str, page: Page) -> Confidence:
        """What a name is that stands behind another, or behind a call."""
        if before.endswith(")."):
            constructor = re.search(r"(\w+)\Z", before[: _opening(before[:-1])])
            return "high" if constructor and constructor[1] in self.holders else "low"
        parts = [one for one in _APART.split(before) if one]
        word_before = re.search(r"(\w+)\Z", parts[-1]) if parts else None
        if word_before is None:
            # `:meth:`.load``: sphinx looks for it everywhere.
            is_marked = before.endswith(("`.", "`~.")) and (self._is_alone or self._is_here(word))
            return "high" if is_marked else "low"
        if word_before[1] in self.holders:
            return "high"
        modules = page.modules.get(word_before[1], set()) if not self.rename_set.is_member else set()
        if len(modules) == 1 and next(iter(modules)) in self._modules and word.site.line in page.code:
            return "high"
        made_of = page.made.get(word_before[1], set()) if word.site.line in page.code else set()
        return "high" if len(made_of) == 1 and made_of <= set(self.holders) else "low"

    def _is_ours(self, modules: Collection[str]) -> bool:
        """Whether modules, as an example names them, may be of this repository."""
        for module in modules:
            parts = [one for one in re.split(r"[./]+", module) if one]
            if module.startswith((".", "/", "@")) or not parts or not self._roots:
                return True
            if parts[-1] in self.holders or parts[0] in self._roots:
                return True
        return False

    @cached_property
    def _modules(self) -> set[str]:
        """The full names of the modules that have the definition, or show it."""
        paths = {one.path for one in self.rename_set.places} | set(self.showing)
        return {self.snapshot.module_name(path) for path in paths}

    @cached_property
    def _roots(self) -> set[str]:
        """The packages that the definition is in, where names of modules tell that."""
        modules = (self.snapshot.module_name(one.path) for one in self.rename_set.places)
        packages = {one.partition(".")[0] for one in modules if "/" not in one}
        languages = {facts.language for one in self.rename_set.places if (facts := self._facts(one.path))}
        return packages if languages == {"python"} else set()

    @cached_property
    def _others(self) -> list[Place]:
        """Other definitions of the name that a text can mean, of languages whose names refer to something.

        A test that is a block, `describe("load", …)`, is not one: it has a title, which no code names.
        """
        definitions = self.snapshot.definitions(self.rename_set.name)
        return [
            one
            for one in definitions
            if one not in self.rename_set.places
            and (facts := self._facts(one.path)) is not None
            and facts.spec.scopes.resolves
            and not is_titled(self.snapshot.definition(one).item)
        ]

    @property
    def _is_alone(self) -> bool:
        return not self._others

    def _is_only(self, word: Word) -> bool:
        """Whether nothing else of the name can be meant: a document does not speak of helpers of tests."""
        is_document = word.where == "document"
        return all(is_document and self.snapshot.purpose(one.path) is Purpose.TEST for one in self._others)

    def _is_here(self, word: Word) -> bool:
        """Whether a file has the definition at hand under its name, and no other of the name."""
        path, line = word.site.path, word.site.line
        if word.where != "comment" or any(one.path == path for one in self._others):
            return False
        if not self.rename_set.is_member:
            return path in self.showing or any(one.path == path for one in self.rename_set.places)
        owners = (owner_of(self.snapshot, one) for one in self.rename_set.places if one.path == path)
        spans = (self.snapshot.definition(one).span for one in owners if one and one.definition >= 0)
        return any(span.start_line <= line <= span.end_line for span in spans)

    @cached_property
    def _is_parameter(self) -> bool:
        """Whether a parameter somewhere has the name, so that a document may speak of that."""
        name = self.rename_set.name
        paths = self.snapshot.paths_with(name)
        return any(
            bind.reason is Reason.PARAM
            for path in paths
            if (facts := self._facts(path)) is not None
            for bind in (facts.binds[at] for at, one in enumerate(facts.binds.names) if one == name)
        )

    def _is_variable(self, word: Word) -> bool:
        """Whether a comment speaks of a parameter or a variable of the name: it stands where one is."""
        before, _ = _sides(word)
        if _PARAMETER.search(before):
            return True
        facts = self._facts(word.site.path)
        if word.where != "comment" or facts is None or before.endswith((".", "::", "->", "#")):
            return False
        line, behind = self._beside(word)
        return any(
            (first <= behind and line <= last) or binding_line in (line, behind)
            for first, last, binding_line in self._variables(word.site.path)
        )

    def _variables(self, path: RepoPath) -> list[tuple[int, int, int]]:
        """The lines of each scope of a file that has a variable of the name, and the line that binds it."""
        if path not in self._variable_spans:
            facts = self._facts(path)
            indices = [
                at for at, one in enumerate(facts.binds.names if facts else ()) if one == self.rename_set.name
            ]
            binds = [facts.binds[at] for at in indices] if facts else []
            spans = [
                (facts.scopes[one.scope].span, one.line)
                for one in binds
                if facts and one.scope and one.reason in _VARIABLES
            ]
            self._variable_spans[path] = [(span.start_line, span.end_line, line) for span, line in spans]
        return self._variable_spans[path]

    def _beside(self, word: Word) -> tuple[int, int]:
        """The line of a word and the first one behind its comment, where what it is about may stand."""
        page_lines = self._page(word).lines
        last = word.site.line
        while last in page_lines:
            last += 1
        return word.site.line, last

    def _page(self, word: Word) -> Page:
        path = word.site.path
        if path not in self._pages:
            lines = Lines(self.snapshot.source(path))
            is_comment = word.where == "comment"
            self._pages[path] = page_of(
                list(_comments(self.snapshot, path, lines)) if is_comment else [_whole(lines)]
            )
        return self._pages[path]

    def _facts(self, path: str) -> FileFacts | None:
        return self.snapshot.facts(path)


def parameter_mentions(mention_words: Collection[Word]) -> Iterator[Mention]:
    """The words in comments of a function that has a variable of the name."""
    for word in mention_words:
        if word.where == "comment" and not word.path_text:
            before, after = _sides(word)
            name = word.site.old
            inline = _inline(before, name, after) is not None
            is_told = re.search(r"^\s*(?:\"\"\"|[-*#/]+)?\s*\Z", before) and re.match(
                r"\s*(?:[:(-]|$)", after
            )
            is_marked = inline or is_told or _PARAMETER.search(before) or _is_prompt(before)
            yield Mention(word.site, "high" if is_marked else "low")


def _inline(before: str, name: str, after: str) -> re.Match[str] | None:
    """The code in backquotes that a name in a line is a part of."""
    spans = _INLINE.finditer(before + name + after)
    return next((one for one in spans if one.start() < len(before) < one.end()), None)


def _is_printed(page: Page, line: int) -> bool:
    """Whether a line of a comment is what an example prints: below `Output:`, as Go has it."""
    while line in page.lines:
        if _OUTPUT.match(page.lines[line]):
            return True
        line -= 1
    return False


def _is_prompt(before: str) -> bool:
    return before.lstrip().startswith(">>>")


def _sides(word: Word) -> tuple[str, str]:
    """What stands in a line before a word and behind it."""
    data = word.line_text.encode("utf-8", "surrogateescape")
    end = word.site.column + len(word.site.old.encode("utf-8", "surrogateescape"))
    return data[: word.site.column].decode("utf-8", "replace"), data[end:].decode("utf-8", "replace")


def _ends_in_file(after: str) -> bool:
    """Whether what follows a name makes it one of a file or a host: `config.json`."""
    extension = re.match(r"\.(\w+)(?![\w(.])", after)
    return extension is not None and _FILES.match(extension[1]) is not None


def _opening(text: str) -> int:
    """Where the bracket stands that the last one of a text closes; 0 where it is not in it."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if not depth:
            return at
    return 0


def _is_defined(word: Word) -> bool:
    """Whether a document defines something of the name itself, in an example."""
    return bool(re.search(rf"{_DEFINES}\s+{re.escape(word.site.old)}(?!\w)", word.line_text))


def _whole(lines: Lines) -> dict[int, str]:
    count = lines.data.count(b"\n") + 1
    return {number: lines.text(number) for number in range(1, count + 1)}


def _comments(snapshot: Codebase, path: RepoPath, lines: Lines) -> Iterator[dict[int, str]]:
    """The comments of a file, those of lines that follow each other as one."""
    text: dict[int, str] = {}
    for start, end, kind in texts_in(snapshot, path, lines.data):
        is_text = kind == "statement" and is_remark(lines.data, start, end)
        if kind != "comment" and not is_text:
            continue
        first, last = lines.position(start)[0], lines.position(end)[0]
        if text and first != max(text) + 1:
            yield text
            text = {}
        for number in range(first, last + 1):
            text[number] = (
                lines.text(number) if is_text and number > first else without_leader(lines.text(number))
            )
    if text:
        yield text
