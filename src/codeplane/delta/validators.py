"""Validators run in a scratch copy that has the changes of a phase, before the repository changes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from codeplane.core.documents import Malformed, parse_json, parse_toml
from codeplane.core.errors import ProgramFailed, ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.delta.toolchain import PLACEHOLDER, Validator, ValidatorScope
from codeplane.lint import Diagnostic, Place
from codeplane.lint.positions import Normal
from codeplane.lint.reports import findings_in
from codeplane.process import Finished, Programs
from codeplane.process.custody import Custody
from codeplane.process.toolbox import Toolbox
from codeplane.verify.trial import Trial

_MOST_OUTPUT: Final = 16 << 20
_LONGEST_SNIPPET: Final = 2_000
_MOST_DIAGNOSTICS: Final = 200
_TOP: Final = RepoPath("")
# What every program needs to run at all.
_ALWAYS: Final = ("PATH", "HOME", "LANG", "TMPDIR")


@dataclass(frozen=True)
class ValidatorRun:
    """One run of a validator, and what came of it."""

    name: str
    scope: ValidatorScope
    is_required: bool
    path: RepoPath | None  # the file, of scope `file`
    is_passed: bool
    exit_code: int | None = None  # None where it was not started or ended by its deadline
    duration_ms: int = 0
    output: str = ""  # the end of what it printed, where it did not pass
    diagnostics: tuple[Diagnostic, ...] = ()
    is_missing: bool = False
    changed_paths: tuple[RepoPath, ...] = ()  # files that it has changed in its copy

    @property
    def blocks(self) -> bool:
        """Whether the phase can't go on because of it."""
        return self.is_required and not self.is_passed

    @property
    def title(self) -> str:
        """The validator, with the file that it was run on."""
        return f"{self.name} {self.path}" if self.path is not None else self.name


@dataclass(frozen=True)
class Bench:
    """Where validators run, with what they may see."""

    trial: Trial
    programs: Programs
    variables: Callable[[Sequence[str]], Mapping[str, str]]  # of the user's environment, by name
    check: Callable[[], None]
    on_start: Callable[[Validator, RepoPath | None], None] = lambda _validator, _path: None
    on_end: Callable[[ValidatorRun], None] = lambda _run: None


def run_validators(bench: Bench, requests: Mapping[Validator, Sequence[RepoPath]]) -> list[ValidatorRun]:
    """Runs each validator once, or once for each distinct file or workspace that it is asked about."""
    runs = []
    for validator, paths in requests.items():
        for path, directory in _places_of(bench.trial, validator, sorted(set(paths))):
            bench.check()
            bench.on_start(validator, path)
            stamps = bench.trial.stamps()
            run = _run_once(bench, validator, path, directory)
            # The next one judges what will be written, not what this one has made of it.
            run = replace(run, changed_paths=tuple(bench.trial.repair(stamps)))
            bench.on_end(run)
            runs.append(run)
    return runs


def _places_of(
    trial: Trial, validator: Validator, paths: Sequence[RepoPath]
) -> Iterator[tuple[RepoPath | None, RepoPath]]:
    """The files that it is run on, each with its working directory."""
    if validator.scope == "file":
        for path in paths:
            yield path, _directory_of(trial, validator, path)
        return
    for directory in dict.fromkeys(_directory_of(trial, validator, path) for path in paths):
        yield None, directory


def _directory_of(trial: Trial, validator: Validator, path: RepoPath) -> RepoPath:
    if validator.cwd == "file_parent":
        return RepoPath(path.rpartition("/")[0])
    return workspace_root(trial, path) if validator.cwd == "workspace_root" else _TOP


def workspace_root(trial: Trial, path: RepoPath) -> RepoPath:
    """The outermost Cargo, npm or uv workspace around a file; else the nearest package, else the top."""
    parts = path.split("/")[:-1]
    directories = [RepoPath("/".join(parts[:depth])) for depth in range(len(parts) + 1)]
    workspaces = [one for one in directories if _is_workspace(trial, one)]
    packages = [one for one in directories if any(_manifest(trial, one, name) for name in _MANIFESTS)]
    return workspaces[0] if workspaces else packages[-1] if packages else _TOP


_MANIFESTS: Final = ("Cargo.toml", "package.json", "pyproject.toml")


def _manifest(trial: Trial, directory: RepoPath, name: str) -> str | None:
    return trial.text(RepoPath(f"{directory}/{name}" if directory else name))


def _is_workspace(trial: Trial, directory: RepoPath) -> bool:
    cargo, npm, python = (_manifest(trial, directory, name) for name in _MANIFESTS)
    try:
        if cargo is not None and "workspace" in parse_toml(cargo):
            return True
        if npm is not None and isinstance(document := parse_json(npm), dict) and document.get("workspaces"):
            return True
        tools = parse_toml(python).get("tool", {}) if python is not None else {}
        return isinstance(tools, dict) and "workspace" in (tools.get("uv") or {})
    except Malformed:
        return False


def _run_once(bench: Bench, validator: Validator, path: RepoPath | None, directory: RepoPath) -> ValidatorRun:
    root = bench.trial.root
    toolbox = Toolbox(bench.programs, root)
    blank = ValidatorRun(validator.name, validator.scope, validator.is_required, path, is_passed=False)
    began = time.monotonic()
    try:
        program = toolbox.find(validator.command, directory)
        result = Programs(_environment(bench, validator, toolbox, directory)).run(
            (program, *_arguments(validator, path, directory)),
            cwd=root / directory,
            timeout=validator.timeout_seconds,
            most=_MOST_OUTPUT,
            check=bench.check,
            custody=Custody(is_tied=True),
        )
    except ProgramMissing as error:
        return replace(blank, is_passed=not validator.fail_if_missing, output=error.message, is_missing=True)
    except ProgramFailed as error:
        return replace(blank, output=error.message)
    duration = round((time.monotonic() - began) * 1000)
    is_passed = result.code is not None and result.code in validator.success_exit_codes
    return replace(
        blank,
        is_passed=is_passed,
        exit_code=result.code,
        duration_ms=duration,
        output="" if is_passed else _snippet(validator, result),
        diagnostics=() if is_passed else _diagnostics(bench, validator, root / directory, result),
    )


def _arguments(validator: Validator, path: RepoPath | None, directory: RepoPath) -> list[str]:
    # `./` keeps a file that is named like an option from being one.
    file = f"./{path.removeprefix(f'{directory}/' if directory else '')}" if path is not None else ""
    return [file if argument == PLACEHOLDER else argument for argument in validator.args]


def _environment(
    bench: Bench, validator: Validator, toolbox: Toolbox, directory: RepoPath
) -> Mapping[str, str]:
    usual = toolbox.env(directory)
    if validator.env_allowlist is None:
        return usual
    base = {name: usual[name] for name in _ALWAYS if name in usual}
    allowed_variables = bench.variables([name for name in validator.env_allowlist if name != "PATH"])
    return {**base, **allowed_variables}


def _snippet(validator: Validator, result: Finished) -> str:
    """The end of what a program printed, where the reason mostly is."""
    if result.code is None:
        return f"ended after {validator.timeout_seconds} s, its limit"
    output = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace").strip()
    text = output if len(output) <= _LONGEST_SNIPPET else f"…{output[-_LONGEST_SNIPPET:]}"
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def _diagnostics(bench: Bench, validator: Validator, cwd: Path, result: Finished) -> tuple[Diagnostic, ...]:
    place = Place(bench.trial.root, Toolbox(bench.programs, bench.trial.root), bench.trial.reports)
    findings = findings_in(validator.output_parser, result.stdout)
    findings = findings or findings_in("text", result.stderr)
    paths = dict.fromkeys(bench.trial.paths())
    return tuple(
        Normal(bench.trial, place).diagnostics(validator.name, cwd, findings, paths)[:_MOST_DIAGNOSTICS]
    )
