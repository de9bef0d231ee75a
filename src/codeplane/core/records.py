"""Dataclasses as JSON and back, by their annotations: what is read is checked, and nothing of it is executed.

Bytes are kept beside the JSON, by their digest. Paths pass the caller's check again.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from codeplane.core.documents import decode_json
from codeplane.core.paths import Digest, RepoPath

T = TypeVar("T")


def encode_record(record: object) -> tuple[str, dict[Digest, bytes]]:
    """The JSON of a dataclass, and the contents that it names by their digests."""
    contents: dict[Digest, bytes] = {}
    return json.dumps(_encode_value(record, contents), separators=(",", ":")), contents


def decode_record(
    form: type[T], text: str, contents: Mapping[Digest, bytes], enter: Callable[[str], RepoPath]
) -> T:
    """The dataclass that `encode_record` was given; ValueError for what is not one of that form.

    `enter` checks each path and raises for one that must not be named.
    """
    try:
        data = decode_json(text.encode())
    except RecursionError as error:
        raise ValueError("too deep") from error
    record: T = _Decoder(contents, enter).decoded(form, data)
    return record


def _encode_value(value: Any, contents: dict[Digest, bytes]) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        digest = Digest(hashlib.sha256(value).hexdigest())
        contents[digest] = value
        return digest
    if isinstance(value, Mapping):
        return [[_encode_value(key, contents), _encode_value(one, contents)] for key, one in value.items()]
    if isinstance(value, Sequence):
        return [_encode_value(one, contents) for one in value]
    if isinstance(value, AbstractSet):
        return [_encode_value(one, contents) for one in sorted(value)]
    form = type(value)
    assert is_dataclass(form), f"BUG: {form.__name__} has no form as a record"
    # What is left at its default need not be written: most fields of most records are.
    values = ((name, getattr(value, name), default) for name, _, default in _fields_of(form))
    return {name: _encode_value(one, contents) for name, one, default in values if one is not default}


class _Decoder:
    def __init__(self, contents: Mapping[Digest, bytes], enter: Callable[[str], RepoPath]) -> None:
        self._contents = contents
        self._enter = enter

    def decoded(self, form: Any, data: Any) -> Any:
        if form is RepoPath:
            return self._decode_path(data)
        if isinstance(form, NewType):
            return self.decoded(form.__supertype__, data)
        if form is bytes:
            return self._decode_content(data)
        if form in (str, int, bool, NoneType):
            return _check_type(form, data)
        if form is float:
            return float(_check_type(int if type(data) is int else float, data))
        if get_origin(form) is not None:
            return self._decode_generic(form, data)
        if isinstance(form, type) and issubclass(form, Enum):
            return form(data)
        return self._decode_record(form, _check_type(dict, data))

    def _decode_generic(self, form: Any, data: Any) -> Any:
        origin, parts = get_origin(form), get_args(form)
        if origin in (Union, UnionType):
            return self._one_of(parts, data)
        if origin is Literal:
            if data not in parts:
                raise ValueError(f"{data!r} is none of {parts}")
            return data
        items = _check_type(list, data)
        if origin is tuple and parts[-1:] != (...,):
            if len(items) != len(parts):
                raise ValueError(f"{len(items)} items instead of {len(parts)}")
            return tuple(map(self.decoded, parts, items))
        if origin in (dict, Mapping):
            return {self.decoded(parts[0], key): self.decoded(parts[1], one) for key, one in items}
        return origin(self.decoded(parts[0], one) for one in items)

    def _one_of(self, forms: Sequence[Any], data: Any) -> Any:
        for form in forms:
            try:
                return self.decoded(form, data)
            except (ValueError, TypeError):
                continue
        raise ValueError(f"{type(data).__name__} fits none of the forms")

    def _decode_record(self, form: Any, data: Mapping[str, Any]) -> Any:
        if not isinstance(form, type) or not is_dataclass(form):
            raise ValueError(f"{form!r} is no form of a record")
        fields_by_name = {name: (hint, default) for name, hint, default in _fields_of(form)}
        if not data.keys() <= fields_by_name.keys():
            raise ValueError(
                f"{form.__name__} has no {', '.join(sorted(data.keys() - fields_by_name.keys()))}"
            )
        return form(**{name: self.decoded(fields_by_name[name][0], one) for name, one in data.items()})

    def _decode_path(self, data: Any) -> RepoPath:
        text: str = _check_type(str, data)
        if text and self._enter(text) != text:
            raise ValueError(f"{text!r} is no path of the repository")
        return RepoPath(text)

    def _decode_content(self, data: Any) -> bytes:
        content = self._contents.get(Digest(_check_type(str, data)))
        if content is None:
            raise ValueError(f"the content {data} is missing")
        return content


def _check_type(form: Any, data: Any) -> Any:
    if type(data) is not form:
        raise ValueError(f"{type(data).__name__} instead of {form.__name__}")
    return data


@lru_cache(maxsize=64)
def _fields_of(form: Any) -> tuple[tuple[str, Any, Any], ...]:
    """Name, type and default of each field; MISSING where there is none that can be compared."""
    hints = get_type_hints(form)
    return tuple((one.name, hints[one.name], _default_of(one.default)) for one in fields(form) if one.init)


def _default_of(value: Any) -> Any:
    is_plain = value is None or isinstance(value, bool | Enum) or value in ("", ())
    return value if is_plain else MISSING
