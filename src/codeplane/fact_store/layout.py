"""Where things are in a store, and which versions there are.

facts/<extractor>/<aa>/<segment>    facts of contents, read as one language by one version of the extractor
have/<extractor>/<aa>               which segment has the facts of a content, by the begin of its digest
repo/<id>/<commit>                  the manifest of a commit
repo/<id>/HEAD                      the last commit whose manifest is there
"""

import hashlib
import re
from functools import cache
from typing import Final, NamedTuple

from codeplane.core.errors import ArtifactInvalid, ArtifactTooNew
from codeplane.index.store import BlobKey
from codeplane.parsing.version import packing_version

FORMAT: Final = (1, 0)
"""Major and minor version of segments, lists and manifests. A higher major version is refused."""

_HEX64: Final = r"[0-9a-f]{64}"
_EXTRACTOR: Final = re.compile(r"[a-z0-9]{1,32}-[0-9a-f]{16}")
_KEY: Final = re.compile(
    rf"facts/{_EXTRACTOR.pattern}/[0-9a-f]{{2}}/{_HEX64}|have/{_EXTRACTOR.pattern}/[0-9a-f]{{2}}"
    r"|repo/[0-9a-f]{32}/(?:[0-9a-f]{40}|HEAD)"
)
_DIGEST: Final = re.compile(_HEX64)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_VERSION: Final = re.compile(rb"(cpl-[a-z]{1,16}) ([0-9]{1,6})\.([0-9]{1,6})")


class SegmentName(NamedTuple):
    """A segment of a store."""

    extractor: str
    digest: str

    @property
    def key(self) -> str:
        return f"facts/{self.extractor}/{self.digest[:2]}/{self.digest}"


def is_key(key: str) -> bool:
    """Whether a store may have an object of that name."""
    return _KEY.fullmatch(key) is not None


def is_digest(text: object) -> bool:
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def is_commit(text: object) -> bool:
    return isinstance(text, str) and _COMMIT.fullmatch(text) is not None


def is_extractor(text: object) -> bool:
    return isinstance(text, str) and _EXTRACTOR.fullmatch(text) is not None


def have_key(extractor: str, prefix: str) -> str:
    return f"have/{extractor}/{prefix}"


def manifest_key(repository: str, commit: str) -> str:
    return f"repo/{repository}/{commit}"


def head_key(repository: str) -> str:
    return f"repo/{repository}/HEAD"


def extractor_of(key: BlobKey) -> str:
    """The name of what has read a content: its language, and a version that covers all that facts depend
    on."""
    return _extractor_name(key.language, key.extractor)


@cache
def _extractor_name(language: str, version: str) -> str:
    whole = f"{packing_version()} {version} {FORMAT[0]}"
    return f"{language or 'words'}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


def version_line(kind: str) -> bytes:
    """The begin of an object, such as `cpl-segment 1.0`."""
    return f"cpl-{kind} {FORMAT[0]}.{FORMAT[1]}".encode()


def is_older(data: bytes) -> bool:
    """Whether an object has a format that is not read any more: it counts as not there."""
    match = _VERSION.match(data[:40])
    return match is not None and int(match[2]) < FORMAT[0]


def check_version(data: bytes, kind: str, name: str) -> None:
    """Refuses what does not begin as an object of this kind in a format that this version reads."""
    match = _VERSION.match(data[:40])
    if match is None or match[1] != f"cpl-{kind}".encode():
        raise ArtifactInvalid(f"{name} is no {kind} of facts.", object=name)
    if int(match[2]) > FORMAT[0]:
        version = f"{int(match[2])}.{int(match[3])}"
        raise ArtifactTooNew(
            f"{name} has format {version}, and this version of CodePlane reads {FORMAT[0]}.",
            hints=["Update CodePlane."],
            object=name,
        )
