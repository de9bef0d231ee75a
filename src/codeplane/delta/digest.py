"""The digest of a delta: of its intent in a canonical form, not of what validation observed."""

import hashlib
import json
from typing import Any

from codeplane.delta.model import Delta


def digest_of(delta: Delta) -> str:
    """The digest of a delta: sorted keys, no white space, UTF-8."""
    return digest_of_json(delta.to_json())


def digest_of_json(document: Any) -> str:
    """The digest of a delta in its canonical form. A float has no one spelling and is refused."""
    _refuse_floats(document)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _refuse_floats(document: Any) -> None:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, float):
            raise ValueError("a delta holds no floating-point numbers")
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
