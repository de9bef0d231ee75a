"""What linters have printed becomes diagnostics: paths of the repository, columns in code points."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Diagnostic, Finding, Unit
from codeplane.lint.linter import Files, Place

_LONGEST = 500


@dataclass
class Normal:
    """Makes diagnostics of findings. What is outside of the repository, or no file of it, is counted."""

    files: Files
    place: Place
    outside: int = 0
    _lines: dict[RepoPath, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._paths = frozenset(self.files.paths())
        self._roots = [
            f"{root}/" for root in dict.fromkeys((str(self.place.root), os.path.realpath(self.place.root)))
        ]

    def diagnostics(
        self, tool: str, cwd: Path, findings: Iterable[Finding], wanted: Mapping[RepoPath, object]
    ) -> list[Diagnostic]:
        """The findings in wanted files, as diagnostics."""
        result = []
        for one in findings:
            path = self.path(cwd, one.path)
            if path is None:
                self.outside += 1
            elif path in wanted:
                result.append(self._make_diagnostic(tool, path, one))
        return result

    def path(self, cwd: Path, said: str) -> RepoPath | None:
        """The file of the repository that a linter means."""
        if not said or "\0" in said:
            return None
        full = os.path.normpath(cwd / said)
        for candidate in (full, self._resolve_path(full)):
            for root in self._roots:
                path = RepoPath(candidate.removeprefix(root))
                if candidate.startswith(root) and path in self._paths:
                    return path
        return None

    def _resolve_path(self, full: str) -> str:
        folder, name = os.path.split(full)
        return f"{os.path.realpath(folder)}/{name}"

    def _make_diagnostic(self, tool: str, path: RepoPath, one: Finding) -> Diagnostic:
        line, column = self._point_in_file(path, one.line, one.column, one.unit)
        end_line, end_column = self._point_in_file(path, one.end_line, one.end_column, one.unit)
        if not one.end_column or (end_line, end_column) < (line, column):
            end_line, end_column = line, column
        message = " ".join(one.message.split())
        message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…"
        details = (one.rule, one.severity, message, tool, one.has_fix)
        return Diagnostic(path, line, column, end_line, end_column, *details)

    def _point_in_file(self, path: RepoPath, line: int, column: int, unit: Unit) -> tuple[int, int]:
        """A place in code points. What is beyond the file or the line is at its end."""
        if line <= 0:
            return 1, 1
        lines = self._lines_of(path)
        if line > len(lines):
            return max(1, len(lines)), 1
        text = lines[line - 1]
        if unit == "points" or text.isascii():
            points = column - 1
        elif unit == "utf16":
            points = len(text.encode("utf-16-le")[: 2 * max(0, column - 1)].decode("utf-16-le", "ignore"))
        else:
            points = len(text.encode()[: max(0, column - 1)].decode("utf-8", "ignore"))
        return line, min(max(0, points), len(text)) + 1

    def _lines_of(self, path: RepoPath) -> list[str]:
        if path not in self._lines:
            data = self.files.data(path) or b""
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
            # An end that is one line further is that of the last line.
            self._lines[path] = text.split("\n")
        return self._lines[path]
