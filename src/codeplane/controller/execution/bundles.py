"""What a node leaves behind: five small files in the folder of its run, redacted and bounded."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.redaction import redact_text, redact_value
from codeplane.storage import StateDir
from codeplane.storage.files import private_dir, read_small, unusable, write_private

FILES: Final = ("result.json", "op.log", "trace.refs.json", "diff.summary.json", "validation.json")
LARGEST_FILE: Final = 65_536
_MOST_LIST: Final = 200
_LONGEST_TEXT: Final = 4_000
_LONGEST_WORD: Final = 60
_SAFE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class Bundle:
    """The parts of a bundle; one that is left out stays as an earlier step has written it."""

    result: Mapping[str, Any] | None = None
    log: Sequence[str] = ()
    trace_refs: Sequence[str] | None = None
    diff_summary: Mapping[str, Any] | None = None
    validation: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Bundles:
    """The bundles of one run."""

    state: StateDir
    work_id: str
    _root: Path = field(init=False)

    def __post_init__(self) -> None:
        root = self.state.path / "work" / _folder_name(self.work_id) / "bundles"
        object.__setattr__(self, "_root", root)

    def ref_of(self, node_id: str) -> str:
        """What calls name the bundle of a node by."""
        return f"{self.work_id}/bundles/{_folder_name(node_id)}"

    def diff_ref_of(self, node_id: str) -> str:
        """What calls name the summary of a node's diff by."""
        return f"{self.ref_of(node_id)}/diff.summary.json"

    def has_bundle(self, node_id: str) -> bool:
        """Whether the node has left something."""
        return (self._root / _folder_name(node_id) / FILES[0]).is_file()

    def write(self, node_id: str, bundle: Bundle) -> str:
        """Writes the five files, the log appended to; returns the bundle's name."""
        folder = private_dir(self._root / _folder_name(node_id))
        try:
            _write_part(folder / "result.json", bundle.result, {})
            _write_part(folder / "trace.refs.json", bundle.trace_refs, [])
            _write_part(folder / "diff.summary.json", bundle.diff_summary, {})
            _write_part(folder / "validation.json", bundle.validation, {})
            _append_log(folder / "op.log", bundle.log)
        except OSError as error:
            raise unusable(folder, error) from error
        return self.ref_of(node_id)

    def read(self, node_id: str, name: str) -> Any:
        """One of the files of a bundle; None where there is none."""
        data = read_small(self._root / _folder_name(node_id) / name, LARGEST_FILE + 4)
        if data is None:
            return None
        return decode_json(data) if name.endswith(".json") else data.decode("utf-8", "replace")


def _folder_name(text: str) -> str:
    """A text as the name of a folder: itself where it can be one, else a digest."""
    if _SAFE.fullmatch(text):
        return text
    return f"x-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def _write_part(file: Path, value: Any, empty: Any) -> None:
    if value is None and file.exists():
        return
    write_private(file, _bounded_json(value if value is not None else empty))


def _bounded_json(value: Any) -> bytes:
    """A value as redacted JSON that fits: long texts and lists are cut, and where need be, left out."""
    for longest, most in ((_LONGEST_TEXT, _MOST_LIST), (400, 100), (80, 20)):
        short_value = _shortened(value, longest, most)
        if len(_json_of(short_value)) > LARGEST_FILE:
            continue
        data = _json_of(redact_value(short_value))
        if len(data) <= LARGEST_FILE:
            return data
    return _json_of({"truncated": True})


def _json_of(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _cut_text(text: str, longest: int) -> str:
    """The beginning of a text, without a word that is cut: half of a secret is not known to be one."""
    if len(text) <= longest:
        return text
    head, space, rest = text[:longest].rpartition(" ")
    return f"{head if space and len(rest) < _LONGEST_WORD else text[: longest - _LONGEST_WORD]}…"


def _shortened(value: Any, longest: int, most: int) -> Any:
    if isinstance(value, str):
        return _cut_text(value, longest)
    if isinstance(value, Mapping):
        return {str(key)[:200]: _shortened(inner, longest, most) for key, inner in list(value.items())[:most]}
    if isinstance(value, list | tuple):
        items = [_shortened(inner, longest, most) for inner in value[:most]]
        return [*items, f"… {len(value) - most} more"] if len(value) > most else items
    return value


def _append_log(file: Path, lines: Sequence[str]) -> None:
    """The last lines of the log with new ones; the oldest go where it grows too long."""
    earlier = read_small(file, LARGEST_FILE) or b""
    text = "".join(f"{redact_text(_cut_text(line, _LONGEST_TEXT))}\n" for line in lines[-_MOST_LIST:])
    data = earlier + text.encode("utf-8", "replace")
    if len(data) > LARGEST_FILE:
        data = data[-LARGEST_FILE:].partition(b"\n")[2]
    write_private(file, data)
