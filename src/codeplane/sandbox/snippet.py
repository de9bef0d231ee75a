"""Runs one snippet in an interpreter of its own: a process without files, network or the host's modules.

`pydantic-monty` is an interpreter for a part of Python, written in Rust. Two of its defaults do not suit a
server: `print` goes to the host's standard output, which is the wire of a stdio server, and the time that a
snippet sleeps counts for no limit.
"""

import keyword
import sys
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from codeplane.core.errors import (
    InvalidArgument,
    SandboxError,
    SandboxFailed,
    SandboxMemory,
    SandboxShapeMismatch,
    SandboxTimeout,
    SandboxUnavailable,
)
from codeplane.sandbox.placeholder import refuse_placeholder
from codeplane.sandbox.shapes import Shape, check_shape, parse_shape
from codeplane.sandbox.values import ValueRefused, render_path, to_plain_json

if TYPE_CHECKING:
    from pydantic_monty import MontyError, MontyRuntimeError, MontySyntaxError

LONGEST_SEC: Final = 30.0
MOST_MEMORY_MB: Final = 512
LONGEST_CODE: Final = 100_000
MOST_OUTPUT: Final = 20_000
_DEEPEST_CALLS: Final = 500
_GRACE_SEC: Final = 2.0
_LONGEST_MESSAGE: Final = 500


@dataclass(frozen=True)
class SnippetOutcome:
    """The answer of a snippet as plain JSON, and what it printed."""

    value: Any
    output: str
    is_output_cut: bool
    seconds: float


def run_snippet(
    code: str,
    inputs: Mapping[str, object],
    *,
    timeout_sec: float = 5.0,
    memory_mb: int = 64,
    return_shape: object = None,
) -> SnippetOutcome:
    """Runs a snippet on declared inputs; the value of its last line is the answer, checked against the shape.

    Raises the errors of 95xx, and `InvalidArgument` for a call that cannot be tried.
    """
    _check_limits(code, timeout_sec, memory_mb)
    values = _check_inputs(inputs)
    shape = parse_shape(return_shape) if return_shape is not None else Shape()
    output = _Output()
    start = time.monotonic()
    value = _run_worker(code, values, output, timeout_sec, memory_mb)
    try:
        answer = to_plain_json(value)
        check_shape(answer, shape)
        refuse_placeholder(answer, shape)
    except ValueRefused as error:
        raise _explain_mismatch(error, shape, output) from None
    return SnippetOutcome(answer, output.text, output.is_cut, time.monotonic() - start)


class _Output:
    """What a snippet prints, up to a cap; the rest is dropped and the snippet goes on."""

    def __init__(self) -> None:
        self.text = ""
        self.is_cut = False

    def __call__(self, stream: Literal["stdout", "stderr"], text: str) -> None:  # noqa: ARG002 - both are kept
        room = MOST_OUTPUT - len(self.text)
        self.text += text[:room]
        self.is_cut = self.is_cut or len(text) > room


def _run_worker(
    code: str, inputs: Mapping[str, Any], output: _Output, timeout_sec: float, memory_mb: int
) -> object:
    # Nobody waits for the interpreter who runs no snippet.
    try:
        from pydantic_monty import Monty, MontyCrashedError, MontyError
    except ImportError as error:
        raise _unavailable(str(error)) from error

    try:
        # A worker for each snippet: nothing of one is left for the next, and none outlives its call.
        pool = Monty(
            binary_path=_find_interpreter(),
            min_processes=1,
            max_processes=1,
            request_timeout=timeout_sec + _GRACE_SEC,
        )
        pool.__enter__()
    except (OSError, RuntimeError, MontyError) as error:
        raise _unavailable(str(error)) from error
    try:
        session = pool.checkout(
            script_name="snippet.py",
            limits={
                "max_feed_duration_secs": timeout_sec,
                "max_turn_duration_secs": timeout_sec,
                "max_memory": memory_mb << 20,
                "max_recursion_depth": _DEEPEST_CALLS,
                "max_suspensions": 1_000,
                "max_total_sleep_secs": 0.0,
            },
            os_policy={"sleep": "zero"},
        )
        with session as interpreter:
            return interpreter.feed_run(code, inputs=dict(inputs), print_callback=output)
    except MontyCrashedError as error:
        raise _explain_crash(error, timeout_sec, memory_mb) from None
    except MontyError as error:
        raise _explain_error(error, output, timeout_sec, memory_mb) from None
    except ValueError as error:
        # A number of more digits than Python prints cannot be brought over.
        text = f"The answer of the snippet cannot be read: {error}."
        raise SandboxShapeMismatch(text, at="$") from None
    finally:
        pool.__exit__(None, None, None)


def _find_interpreter() -> Path:
    """The program that the runtime's wheel installs; never one that only the search path has."""
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    folders.append(sysconfig.get_path("scripts", "posix_user"))
    for folder in folders:
        program = Path(folder) / "monty"
        if program.is_file():
            return program
    raise _unavailable(f"there is no program monty in {folders[0]}")


def _unavailable(reason: str) -> SandboxUnavailable:
    text = f"The sandbox cannot be started: {_shorten(reason)}."
    hint = f"{sys.executable} -m pip install pydantic-monty-client==1.4.0 pydantic-monty-runtime==1.4.0"
    return SandboxUnavailable(text, hints=[hint])


def _explain_crash(error: "MontyError", timeout_sec: float, memory_mb: int) -> SandboxError:
    if getattr(error, "timed_out", False):
        return _timeout(timeout_sec, None)
    if "memory" in str(error).lower():
        return _memory(memory_mb, None)
    text = f"The interpreter ended while it ran the snippet: {_shorten(str(error))}."
    return SandboxFailed(text, line=None)


def _explain_error(error: "MontyError", output: _Output, timeout_sec: float, memory_mb: int) -> SandboxError:
    line = _error_line(error)
    cause = error.exception()
    # What a snippet raises by itself has the same types; the limits' own errors say "limit".
    is_limit = "limit" in str(cause)
    if isinstance(cause, TimeoutError) and is_limit:
        return _timeout(timeout_sec, line)
    if isinstance(cause, MemoryError) and is_limit:
        return _memory(memory_mb, line)
    place = f" in line {line}" if line else ""
    text = f"The snippet failed{place}: {_shorten(str(error))}."
    details: dict[str, object] = {"line": line, "error": type(cause).__name__}
    if output.text:
        details["output"] = output.text[-_LONGEST_MESSAGE:]
    return SandboxFailed(text, hints=_failure_hints(cause), **details)


def _failure_hints(cause: BaseException) -> list[str]:
    if isinstance(cause, PermissionError | ModuleNotFoundError):
        return ["A snippet has no files, network or other modules: pass what it needs in `inputs`."]
    if isinstance(cause, NameError):
        return ["Each name that a snippet does not define has to be declared in `inputs`."]
    if isinstance(cause, SyntaxError | NotImplementedError):
        return ["The interpreter has no generators (`yield`), no class inheritance and no `del`."]
    return []


def _error_line(error: "MontyError | MontyRuntimeError | MontySyntaxError") -> int | None:
    traceback = getattr(error, "traceback", None)
    frames = traceback() if traceback is not None else []
    return frames[-1].line if frames else None


def _timeout(timeout_sec: float, line: int | None) -> SandboxTimeout:
    text = f"The snippet was stopped after {timeout_sec:g} seconds."
    return SandboxTimeout(text, hints=_raise_hint("timeoutSec", LONGEST_SEC), line=line)


def _memory(memory_mb: int, line: int | None) -> SandboxMemory:
    text = f"The snippet needed more than {memory_mb} MB and was stopped."
    return SandboxMemory(text, hints=_raise_hint("memoryMb", MOST_MEMORY_MB), line=line)


def _raise_hint(parameter: str, most: float) -> list[str]:
    return [f"`{parameter}` may be up to {most:g}; passing fewer inputs or doing less also helps."]


def _explain_mismatch(error: ValueRefused, shape: Shape, output: _Output) -> SandboxShapeMismatch:
    text = f"The answer is not as declared: {error}."
    hints = ["The value of the snippet's last line is its answer."]
    if not shape.types:
        hints.append('Declare `returnShape`, such as {"type": "array", "items": "string"}.')
    details: dict[str, object] = {"at": render_path(error.path), "reason": error.reason}
    if output.text:
        details["output"] = output.text[-_LONGEST_MESSAGE:]
    return SandboxShapeMismatch(text, hints=hints, **details)


def _check_limits(code: str, timeout_sec: float, memory_mb: int) -> None:
    if not code.strip() or len(code) > LONGEST_CODE:
        text = f"`code` has {len(code)} characters; it needs some, and at most {LONGEST_CODE}."
        raise InvalidArgument(text, parameters=["code"])
    if not 0 < timeout_sec <= LONGEST_SEC:
        text = f"`timeoutSec` is {timeout_sec:g}; it is more than 0 and at most {LONGEST_SEC:g}."
        raise InvalidArgument(text, parameters=["timeoutSec"])
    if not 1 <= memory_mb <= MOST_MEMORY_MB:
        text = f"`memoryMb` is {memory_mb}; it is between 1 and {MOST_MEMORY_MB}."
        raise InvalidArgument(text, parameters=["memoryMb"])


def _check_inputs(inputs: Mapping[str, object]) -> dict[str, Any]:
    for name in inputs:
        if not str(name).isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
            text = f"`inputs` has the key {name!r}, which is no name of a variable."
            raise InvalidArgument(text, parameters=["inputs"])
    try:
        plain: dict[str, Any] = to_plain_json(dict(inputs))
    except ValueRefused as error:
        raise InvalidArgument(f"`inputs` cannot be passed: {error}.", parameters=["inputs"]) from None
    return plain


def _shorten(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_MESSAGE].rstrip(".")
