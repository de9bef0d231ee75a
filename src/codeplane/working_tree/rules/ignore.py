"""Which files of the working tree CodePlane looks at.

From the strongest rule to the weakest:

1. `.git` and `.codeplane`, in any spelling, are closed.
2. What `.cplignore` in the root excludes is out, tracked or not.
3. Secrets (`SECRETS`) are out. A `!` line of `.cplignore` brings one back only if the user has opened that
   very line (`Opened`): an agent can write the file, but not the user's record.
4. `!` in `.cplignore` brings back what git ignores and what rules 5 to 7 leave out. Inside a directory that
   is ignored as a whole it has to begin with the names of directories (`!generated/api/*.py`): no ignored
   directory is searched for a bare name.
5. Generated directories and files (`GENERATED`) are out, tracked or not: their content only repeats what
   other files say.
6. Usual directories of foreign or built files (`USUAL`) are out, except for the tracked files in them: a
   tracked directory of that name is somebody's source.
7. What git ignores is out, except for the tracked files.

These lists are the only ones: the `.cplignore` that `cpl init` writes shows them as comments and adds none.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pygit2

from codeplane.core.paths import RepoPath
from codeplane.git.repo.layout import common_dir
from codeplane.jail import is_closed
from codeplane.working_tree.rules.rule_file import RuleFile
from codeplane.working_tree.rules.wildmatch import Patterns, as_bytes, parse

CPLIGNORE = ".cplignore"
GITIGNORE = ".gitignore"

SECRET_LINES = """\
.env
.env.*
!.env.example
!.env.sample
!.env.template
!.env.dist
*.pem
*.key
*.p12
*.pfx
*.jks
*.keystore
*.kdbx
*.ppk
id_*
!id_*.*
id_rsa*
id_dsa*
id_ecdsa*
id_ed25519*
!id_*.pub
.netrc
_netrc
.pypirc
.npmrc
.pgpass
.my.cnf
.htpasswd
.git-credentials
.dockercfg
.vault-token
application_default_credentials.json
client_secret*.json
*service*account*.json
*firebase-adminsdk*.json
"""  # noqa: S105 - patterns of names
SECRET_PATH_LINES = """\
**/.aws/credentials
**/.docker/config.json
**/.kube/config
**/.cargo/credentials
**/.cargo/credentials.toml
**/.gem/credentials
"""  # noqa: S105 - patterns of paths
GENERATED_LINES = """\
__pycache__/
*.pyc
.mypy_cache/
.pytest_cache/
.ruff_cache/
.hypothesis/
.tox/
.nox/
.import_linter_cache/
.gradle/
.terraform/
"""
USUAL_LINES = """\
node_modules/
.venv/
venv/
dist/
build/
target/
coverage/
*.log
"""
SECRETS = Patterns(parse(SECRET_LINES.encode()), ignore_case=True)
SECRET_PATHS = Patterns(parse(SECRET_PATH_LINES.encode()), ignore_case=True)
# Few files have one of these names, and only theirs are compared as paths.
_SECRET_NAMES = frozenset(line.rpartition("/")[2] for line in SECRET_PATH_LINES.splitlines())
GENERATED = Patterns(parse(GENERATED_LINES.encode()))
USUAL = Patterns(parse(USUAL_LINES.encode()))
# The patterns of these lists are of names alone, and a repository has many files of one name.
_MOST_NAMES = 1 << 14


@lru_cache(_MOST_NAMES)
def _has_secret_name(name: str) -> bool:
    return bool(SECRETS.verdict(name, name, directory=False))


@lru_cache(_MOST_NAMES)
def _is_generated(name: str, directory: bool) -> bool:
    return bool(GENERATED.verdict(name, name, directory=directory))


@lru_cache(_MOST_NAMES)
def _is_usual(name: str, directory: bool) -> bool:
    return bool(USUAL.verdict(name, name, directory=directory))


class Opened:
    """The `!` lines of `.cplignore` that the user lets bring secrets back; a server may learn of new ones."""

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self.take(lines)

    def take(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        self._patterns = Patterns(parse(os.fsencode("\n".join(lines))))

    def covers(self, name: str, path: str) -> bool:
        """Whether one of the lines is about the file; both as `as_bytes`."""
        return self._patterns.verdict(name, path, directory=False) is False

    @staticmethod
    def lines_of(data: bytes) -> list[str]:
        """The lines of a `.cplignore` that bring something back."""
        lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
        return [os.fsdecode(line) for line in lines if any(one.negated for one in parse(line))]


class Standing(IntEnum):
    """How an entry stands: `SOFT` is out unless it is tracked, `WHITE` is in whatever git ignores."""

    OUT = 0
    SOFT = 1
    IN = 2
    WHITE = 3


@dataclass(frozen=True)
class Scope:
    """The rules that hold for the entries of one directory; `layers` has the deepest ignore file first."""

    ignore: "Ignore"
    standing: Standing
    layers: tuple[tuple[Patterns, int], ...]

    def of(self, name: str, path: str, *, directory: bool) -> Standing:
        """How the entry `name` of this directory, at `path` from the root, stands."""
        if is_closed(name):
            return Standing.OUT
        name, path = as_bytes(name), as_bytes(path)
        own = self.ignore.own_verdict(name, path, directory=directory)
        if own is not None:
            return own
        if self.standing is Standing.SOFT or _is_usual(name, directory):
            return Standing.SOFT
        if self.standing is Standing.WHITE:
            return Standing.WHITE
        for patterns, cut in self.layers:
            verdict = patterns.verdict(name, path[cut:], directory=directory)
            if verdict is not None:
                return Standing.SOFT if verdict else Standing.IN
        return Standing.IN

    def git_ignores(self, name: str, path: str, *, directory: bool) -> bool:
        """Whether git alone leaves the entry out, of a directory that it does not leave out as a whole."""
        if not self.layers:
            return False
        name, path = as_bytes(name), as_bytes(path)
        for patterns, cut in self.layers:
            verdict = patterns.verdict(name, path[cut:], directory=directory)
            if verdict is not None:
                return verdict
        return False

    def reason(self, name: str, path: str, *, directory: bool) -> str | None:
        """Why the entry is out, in a sentence; None when it is not."""
        match self.of(name, path, directory=directory):
            case Standing.OUT if is_closed(name):
                return f"{path} is private to git or to CodePlane."
            case Standing.OUT if self.ignore.keeps_back(RepoPath(path)):
                return f"{path} looks like a secret."
            case Standing.OUT:
                return f"{path} is excluded by .cplignore or is generated."
            case Standing.SOFT:
                return f"{path} is ignored by git or is a directory of built or foreign files."
            case _:
                return None

    def inside(self, path: str, standing: Standing, *, has_rules: bool) -> "Scope":
        """The rules in the directory at `path`, with those of its own ignore file when it has one."""
        own = self.ignore.rules_of(path) if has_rules else None
        if own is None:
            return self if standing is self.standing else Scope(self.ignore, standing, self.layers)
        cut = len(as_bytes(path)) + 1 if path else 0
        return Scope(self.ignore, standing, ((own, cut), *self.layers))


class Ignore:
    """The rules of one working tree."""

    def __init__(self, root: Path, git_dir: Path, opened: Opened) -> None:
        self._root = root
        self._opened = opened
        self._opened_lines = opened.lines
        self._exclude = common_dir(git_dir) / "info" / "exclude"
        self._config = _Config(git_dir)
        self._nested: dict[str, RuleFile] = {}
        self._apply_settings(self._config.settings)

    def _apply_settings(self, settings: "_Settings") -> None:
        self._fold = settings.ignores_case
        self._own = RuleFile(f"{self._root}/{CPLIGNORE}", ignore_case=self._fold)
        # The weakest last, as git has it.
        self._shared = [
            RuleFile(str(path), ignore_case=self._fold, follow=True)
            for path in (self._exclude, settings.excludes_file)
            if path is not None
        ]

    @property
    def folds_case(self) -> bool:
        return self._fold

    def has_changed(self) -> bool:
        """Reads the rule files again whose stat has moved; tells whether a rule is different now."""
        before = self._config.settings
        if self._config.refresh() != before:
            self._apply_settings(self._config.settings)
            return True
        if self._opened.lines != self._opened_lines:
            self._opened_lines = self._opened.lines
            return True
        return sum(file.refresh() for file in self._rule_files()) > 0

    def unread(self) -> list[str]:
        """The ignore files that are too large to be obeyed."""
        return [file.path for file in self._rule_files() if file.is_too_large]

    def _rule_files(self) -> tuple[RuleFile, ...]:
        return self._own, *self._shared, *self._nested.values()

    def top(self) -> Scope:
        """The rules above the root directory, to be entered with `Scope.inside`."""
        patterns = tuple((file.patterns, 0) for file in self._shared if file.patterns is not None)
        return Scope(self, Standing.IN, patterns)

    def rules_of(self, directory: str) -> Patterns | None:
        file = self._nested.get(directory)
        if file is None:
            place = f"{self._root}/{directory}/{GITIGNORE}" if directory else f"{self._root}/{GITIGNORE}"
            file = self._nested[directory] = RuleFile(place, ignore_case=self._fold)
        return file.patterns

    def has_rules(self, directory: str) -> bool:
        """Whether the ignore file of that directory has been read."""
        return directory in self._nested

    def forget(self) -> None:
        """Drops the ignore files of directories; they are read again as the directories are entered."""
        self._nested.clear()

    def own_verdict(self, name: str, path: str, *, directory: bool) -> Standing | None:
        """What holds for tracked files too: `.cplignore`, secrets, generated files; both as `as_bytes`."""
        own = self._own.patterns
        said = None if own is None else own.verdict(name, path, directory=directory)
        if said or (not directory and self._is_secret(name, path, is_white=said is False)):
            return Standing.OUT
        if said is not None:
            return Standing.WHITE
        return Standing.OUT if _is_generated(name, directory) else None

    def keeps_out_of_commits(self, name: str, path: str, *, directory: bool) -> bool:
        """Whether an entry of a commit is left out: everything in a commit is tracked."""
        if is_closed(name):
            return True
        return self.own_verdict(as_bytes(name), as_bytes(path), directory=directory) is Standing.OUT

    def commit_rules(self) -> str:
        """Changes when `keeps_out_of_commits` may answer differently."""
        exceptions = os.fsencode("\n".join(self._opened.lines))
        return hashlib.sha256(self._own.data + bytes([self._fold]) + exceptions).hexdigest()[:16]

    def keeps_back(self, path: RepoPath) -> bool:
        """Whether the file at `path` counts as a secret."""
        whole, name = as_bytes(path), as_bytes(path.rpartition("/")[2])
        own = self._own.patterns
        return self._is_secret(
            name, whole, is_white=own is not None and own.verdict(name, whole, directory=False) is False
        )

    def _is_secret(self, name: str, path: str, *, is_white: bool) -> bool:
        is_secret = _has_secret_name(name) or (
            name.lower() in _SECRET_NAMES and SECRET_PATHS.verdict(name, path, directory=False)
        )
        if not is_secret:
            return False
        return not (is_white and self._opened.covers(name, path))

    def may_hold_whites(self, directory: str) -> bool:
        """Whether a `!` pattern of `.cplignore` could match inside an ignored directory."""
        if self._own.patterns is None:
            return False
        place = as_bytes(directory)
        heads = (p.literal_head for p in self._own.patterns.patterns if p.negated)
        return any(
            head and (head == place or head.startswith(f"{place}/") or place.startswith(f"{head}/"))
            for head in heads
        )


class _Settings(NamedTuple):
    ignores_case: bool
    excludes_file: Path | None


class _Config:
    """The settings of git that ignoring depends on; nothing that names a program is read."""

    def __init__(self, git_dir: Path) -> None:
        self._sources = [str(common_dir(git_dir) / "config")]
        level = pygit2.enums.ConfigLevel
        self._homes = {kind: pygit2.settings.search_path[kind] for kind in (level.GLOBAL, level.XDG)}
        self._sources += [f"{self._homes[level.GLOBAL]}/.gitconfig", f"{self._homes[level.XDG]}/config"]
        self._sources.append(f"{pygit2.settings.search_path[level.SYSTEM]}/gitconfig")
        self._stamps: list[tuple[int, ...]] = []
        self.refresh()

    def refresh(self) -> _Settings:
        """The settings as they are now."""
        stamps = [_stamp_of(source) for source in self._sources]
        if stamps != self._stamps:
            self._stamps = stamps
            self.settings = _Settings(self._is_true("core.ignorecase"), self._excludes_file())
        return self.settings

    def _is_true(self, name: str) -> bool:
        return (self._config_value(name) or "").lower() in ("true", "yes", "on", "1")

    def _excludes_file(self) -> Path | None:
        level = pygit2.enums.ConfigLevel
        value = self._config_value("core.excludesfile")
        if value is None:
            return Path(self._homes[level.XDG]) / "ignore"
        path = Path(f"{self._homes[level.GLOBAL]}{value[1:]}" if value.startswith("~/") else value)
        return path if path.is_absolute() else None

    def _config_value(self, name: str) -> str | None:
        for source in self._sources:
            if not os.path.isfile(source):  # noqa: PTH113 - raises nothing
                continue
            try:
                return str(pygit2.Config(source)[name])
            except (KeyError, pygit2.GitError):
                continue
        return None


def _stamp_of(path: str) -> tuple[int, ...]:
    """Tells one state of a file from another. Git puts a new file in the place of the old one."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a plain string
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
