"""Logs: several outputs, for people or machines, each entry with the ids of the call it belongs to."""

import json
import logging
import os
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from codeplane.config.settings import Level, LoggingSettings, LogOutput
from codeplane.core.errors import InvalidSetting

correlation: ContextVar[dict[str, str]] = ContextVar("correlation", default={})  # noqa: B039 - never mutated

_LEVELS: Final = {"debug": 10, "info": 20, "warn": 30, "error": 40}
_NAMES: Final = {10: "debug", 20: "info", 30: "warn", 40: "error", 50: "error"}
_PLAIN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_OWN_LOG_BYTES: Final = 5_000_000
_QUIET: Final = ("mcp", "uvicorn", "sse_starlette", "asyncio")


def set_up_logs(settings: LoggingSettings, own_file: Path, secret: str) -> None:
    """Replaces the handlers of the root logger. `secret` never appears in any output."""
    _install(
        [*(_handler(o, settings.level) for o in settings.outputs), _own(own_file, settings.level)],
        secret,
    )


def set_up_own_log(settings: LoggingSettings, own_file: Path) -> None:
    """Logs to the state directory alone: for a command whose output is its answer."""
    _install([_own(own_file, settings.level)], "")


def _own(file: Path, level: Level) -> logging.Handler:
    own = _OwnLog(file, maxBytes=_OWN_LOG_BYTES, backupCount=1, encoding="utf-8")
    own.setFormatter(JsonFormatter())
    own.setLevel(_LEVELS[level])
    return own


def _install(handlers: list[logging.Handler], secret: str) -> None:
    root = logging.getLogger()
    close_logs()
    # A log that cannot be written, on a full disk say, must not fail the call that it is about.
    logging.raiseExceptions = False
    for handler in handlers:
        handler.addFilter(_Redaction(secret))
        root.addHandler(handler)
    root.setLevel(min(handler.level for handler in handlers))
    for library in _QUIET:
        logging.getLogger(library).setLevel(max(logging.WARNING, root.level))


def close_logs() -> None:
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()


class _OwnLog(RotatingFileHandler):
    """The log in the state directory; a link that was planted there is not followed."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding=self.encoding)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: ts, level, event, the call's ids, then the entry's own fields."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "ts": _format_timestamp(record),
            "level": _NAMES.get(record.levelno, "info"),
            "event": record.getMessage(),
            **correlation.get(),
            **_fields(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


class ConsoleFormatter(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {**correlation.get(), **_fields(record)}
        tail = "".join(f" {key}={value}" for key, value in fields.items())
        level = _NAMES.get(record.levelno, "info")
        line = f"{_format_timestamp(record)[11:19]} {level:<5} {record.getMessage()}{tail}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Redaction(logging.Filter):
    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        if self._secret:
            record.msg = self._clean(record.getMessage())
            record.args = None
            for key, value in _fields(record).items():
                if self._secret in str(value):
                    setattr(record, key, self._clean(str(value)))
            if record.exc_info:
                text = logging.Formatter().formatException(record.exc_info)
                if self._secret in text:
                    record.exc_info = None
                    record.msg += "\n" + self._clean(text)
        return True

    def _clean(self, text: str) -> str:
        return text.replace(self._secret, "[token]")


def _handler(output: LogOutput, level: Level) -> logging.Handler:
    handler: logging.Handler
    if output.destination in ("stderr", "stdout"):
        handler = logging.StreamHandler(getattr(sys, output.destination))
    else:
        handler = _open_file(output.destination)
    handler.setFormatter(JsonFormatter() if output.format == "json" else ConsoleFormatter())
    handler.setLevel(_LEVELS[output.level or level])
    return handler


def _open_file(path: str) -> logging.Handler:
    try:
        return logging.FileHandler(path, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidSetting(f"logging.outputs: {path} cannot be written: {reason}.", path=path) from error


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _PLAIN}


def _format_timestamp(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
