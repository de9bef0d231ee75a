"""The version of what is made of facts after extraction: how they are packed, and which words there are."""

import hashlib
from functools import cache
from pathlib import Path

from codeplane.parsing import foreign, generated, pack, words


@cache
def packing_version() -> str:
    """Changes whenever the same facts may be packed in another way, or the words of a file be others."""
    sources = [Path(module.__file__ or "").read_bytes() for module in (foreign, generated, pack, words)]
    return hashlib.sha256(b"\0".join(sources)).hexdigest()[:16]
