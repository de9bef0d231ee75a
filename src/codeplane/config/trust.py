"""Which repositories the user trusts. The record is the user's, never a file of the repository."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeplane.core.documents import decode_json
from codeplane.core.errors import UnreadableConfig

Writer = Callable[[Path, bytes], None]


@dataclass(frozen=True)
class Trust:
    """What the user grants to one checkout; `secrets` are the lines of `.cplignore` that may open some,
    `toolchain` is the digest of `toolchain.toml` as the user has seen it."""

    trust_id: str
    secrets: tuple[str, ...] = ()
    toolchain: str = ""


@dataclass(frozen=True)
class TrustRecord:
    """Trust is given to one checkout: its path together with a random id in its state directory.

    The id is made when trust is given, so a fresh clone at a trusted path does not have it, and a
    repository that ships a state directory of its own cannot guess it.
    """

    file: Path

    def of(self, root: Path, trust_id: str) -> Trust | None:
        """The trust in the checkout at `root` that has this id; None where there is none."""
        trust = self._read_record().get(str(root))
        return trust if trust is not None and trust.trust_id == trust_id != "" else None

    def trusts(self, root: Path, trust_id: str) -> bool:
        return self.of(root, trust_id) is not None

    def grant(self, root: Path, trust: Trust, write: Writer) -> None:
        write(self.file, _dump_record({**self._read_record(), str(root): trust}))

    def revoke(self, root: Path, write: Writer) -> bool:
        record = self._read_record()
        is_known = record.pop(str(root), None) is not None
        if is_known:
            write(self.file, _dump_record(record))
        return is_known

    def _read_record(self) -> dict[str, Trust]:
        try:
            record = decode_json(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UnreadableConfig(f"{self.file}: {error}.", file=str(self.file)) from error
        if not isinstance(record, dict):
            raise UnreadableConfig(f"{self.file}: not a trust record.", file=str(self.file))
        return {str(path): _make_trust(entry) for path, entry in record.items()}


def _make_trust(entry: object) -> Trust:
    """An entry is the id, or the id with what else is granted."""
    if not isinstance(entry, dict):
        return Trust(str(entry))
    secrets = entry.get("secrets")
    lines = tuple(map(str, secrets)) if isinstance(secrets, list) else ()
    return Trust(str(entry.get("id", "")), lines, str(entry.get("toolchain", "")))


def _dump_record(record: dict[str, Trust]) -> bytes:
    entries = {
        path: {"id": trust.trust_id, **_grants(trust)} if _grants(trust) else trust.trust_id
        for path, trust in record.items()
    }
    return json.dumps(entries, indent=2, sort_keys=True).encode() + b"\n"


def _grants(trust: Trust) -> dict[str, object]:
    """What is granted beyond trust itself."""
    secrets = {"secrets": list(trust.secrets)} if trust.secrets else {}
    return {**secrets, **({"toolchain": trust.toolchain} if trust.toolchain else {})}
