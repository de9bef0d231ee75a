"""A store in a bucket of an object store, through `obstore` (the extra `fleet`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from codeplane.core.errors import ArtifactInvalid, FactStoreUnavailable, InvalidArgument
from codeplane.fact_store.layout import is_key
from codeplane.fact_store.store import FactStore, Tagged

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss")
_GAP: Final = "\n"  # in no tag
_RETRIES: Final = 4
_RETRY_SEC: Final = 60


class BucketStore(FactStore):
    """Objects of a bucket, under a prefix. Who may read and write is up to the bucket."""

    def __init__(self, url: str) -> None:
        self._label = _check_url(url)
        self._store = _open_bucket(url, self._label)

    @property
    def label(self) -> str:
        return self._label

    def size(self, key: str) -> int | None:
        assert is_key(key), f"BUG: no key: {key!r}"
        import obstore

        with self._explain_errors():
            try:
                return int(obstore.head(self._store, key)["size"])
            except FileNotFoundError:
                return None

    def read(self, key: str, limit: int) -> Tagged | None:
        assert is_key(key), f"BUG: no key: {key!r}"
        import obstore

        with self._explain_errors():
            try:
                result = obstore.get(self._store, key)
            except FileNotFoundError:
                return None
            size = int(result.meta["size"])
            if size > limit:
                raise ArtifactInvalid(f"{key} is larger than {limit} bytes.", object=key)
            data = b"".join(bytes(chunk) for chunk in result.stream())
            return Tagged(data, f"{result.meta.get('e_tag') or ''}{_GAP}{result.meta.get('version') or ''}")

    def read_range(self, key: str, start: int, length: int) -> bytes:
        assert is_key(key), f"BUG: no key: {key!r}"
        import obstore

        if not length:
            return b""
        with self._explain_errors():
            try:
                data = bytes(obstore.get_range(self._store, key, start=start, length=length))
            except FileNotFoundError:
                data = b""
        if len(data) != length:
            raise ArtifactInvalid(f"{key} is cut off.", object=key)
        return data

    def create(self, key: str, data: bytes) -> bool:
        return self._put_object(key, data, "create")

    def swap(self, key: str, data: bytes, tag: str | None) -> bool:
        if tag is None:
            return self._put_object(key, data, "create")
        # S3 and Azure compare the one, Google the other.
        e_tag, _, version = tag.partition(_GAP)
        pairs = (("e_tag", e_tag), ("version", version))
        return self._put_object(key, data, {name: value for name, value in pairs if value})

    def keys(self, prefix: str) -> Iterator[str]:
        import obstore

        with self._explain_errors():
            for chunk in obstore.list(self._store, prefix.rstrip("/")):
                for entry in chunk:
                    key = str(entry["path"])
                    if is_key(key):
                        yield key

    def _put_object(self, key: str, data: bytes, mode: Any) -> bool:
        assert is_key(key), f"BUG: no key: {key!r}"
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._explain_errors():
            try:
                # Conditions hold for single requests alone.
                obstore.put(self._store, key, data, mode=mode, use_multipart=False)
            except (AlreadyExistsError, PreconditionError, FileNotFoundError):
                return False
        return True

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            reason = next(iter(str(error).splitlines()), "")[:300].rstrip(".")
            text = f"The store {self._label} can't be used: {reason}."
            raise FactStoreUnavailable(
                text, hints=["Check the address, the account and the network."], store=self._label
            ) from error


def _check_url(url: str) -> str:
    """The address without anything secret; a user or a password in it is refused."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidArgument(f"The store's address can't be read: {error}.") from error
    if parts.scheme not in SCHEMES or not parts.netloc:
        raise InvalidArgument(
            f"{url[:80]!r} is no address of a store.",
            hints=[f"Addresses begin with {'://, '.join(SCHEMES)}://."],
        )
    if (parts.username or parts.password) and parts.scheme not in ("abfs", "abfss"):
        raise InvalidArgument(
            "The store's address contains a user or a password.",
            hints=["Leave it out; the account comes from the environment (AWS_ACCESS_KEY_ID …)."],
        )
    if parts.query or parts.fragment or parts.password:
        raise InvalidArgument("The store's address has more than a bucket and a folder.")
    return url


def _open_bucket(url: str, label: str) -> "ObjectStore":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise FactStoreUnavailable(
            f"The store {label} needs the extra `fleet`, which is not installed.",
            hints=["pip install 'codeplane[fleet]'"],
            extra="fleet",
        ) from error
    try:
        # No options of the client: they would take the place of those that the environment gives.
        return from_url(
            url,
            retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SEC)},
        )
    except (BaseError, ValueError) as error:
        raise FactStoreUnavailable(f"The store {label} can't be used: {error}.", store=label) from error
