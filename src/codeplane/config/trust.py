"""Which repositories the user trusts. The record is the user's, never a file of the repository."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codeplane.core.errors import UnreadableConfig

Writer = Callable[[Path, bytes], None]


@dataclass(frozen=True)
class TrustRecord:
    """Trust is given to one checkout: its path together with a random id in its state directory.

    The id is made when trust is given, so a fresh clone at a trusted path does not have it, and a
    repository that ships a state directory of its own cannot guess it.
    """

    file: Path

    def trusts(self, root: Path, trust_id: str) -> bool:
        return trust_id != "" and self._read().get(str(root)) == trust_id

    def grant(self, root: Path, trust_id: str, write: Writer) -> None:
        write(self.file, _dump({**self._read(), str(root): trust_id}))

    def revoke(self, root: Path, write: Writer) -> bool:
        record = self._read()
        known = record.pop(str(root), None) is not None
        if known:
            write(self.file, _dump(record))
        return known

    def _read(self) -> dict[str, str]:
        try:
            record = json.loads(self.file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UnreadableConfig(f"{self.file}: {error}.", file=str(self.file)) from error
        if not isinstance(record, dict):
            raise UnreadableConfig(f"{self.file}: not a trust record.", file=str(self.file))
        return {str(path): str(trust_id) for path, trust_id in record.items()}


def _dump(record: dict[str, str]) -> bytes:
    return json.dumps(record, indent=2, sort_keys=True).encode() + b"\n"
