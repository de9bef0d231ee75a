"""What a store can do: named objects that are made once, and a few that are replaced by compare-and-swap."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Tagged(NamedTuple):
    """The bytes of an object, and a tag that changes with them."""

    data: bytes
    tag: str


class FactStore(Protocol):
    """A directory, a bucket or a file. Keys are those of `layout`; a store refuses any other.

    What cannot be reached raises `FactStoreUnavailable`, what is larger than its limit `ArtifactInvalid`.
    """

    @property
    def label(self) -> str:
        """The store in messages; no secret is in it."""

    def size(self, key: str) -> int | None:
        """How many bytes an object has; None where there is none."""

    def read(self, key: str, limit: int) -> Tagged | None:
        """A whole object of at most so many bytes; None where there is none."""

    def read_range(self, key: str, start: int, length: int) -> bytes:
        """Some bytes of an object that is there."""

    def create(self, key: str, data: bytes) -> bool:
        """Makes an object unless there is one; tells whether it did."""

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:
        """Replaces an object that still has this tag, or makes one where None is said; tells whether it
        did."""

    def keys(self, prefix: str) -> Iterator[str]:
        """The objects whose names begin with `prefix`, a whole folder, in order."""
