"""Packs on disk: one file each in the folder of their run."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from codeplane.controller.pack.fitting import canonical_json
from codeplane.controller.pack.sections import PackContent
from codeplane.controller.runs import Run
from codeplane.controller.turn import work_folder
from codeplane.core.documents import json_object
from codeplane.session import Call
from codeplane.storage.files import private_dir, read_small, write_private

_REF: Final = re.compile(r"pack_[0-9a-f]{16}")
_LARGEST: Final = 4 << 20


@dataclass(frozen=True)
class StoredPack:
    """A pack as it was given out."""

    content: PackContent
    text: str


def store_pack(call: Call, run: Run, content: PackContent, text: str) -> None:
    """Keeps a pack under its reference."""
    folder = _pack_folder(call, run)
    for place in (folder.parent.parent, folder.parent, folder):
        private_dir(place)
    document = {"pack": content.model_dump(mode="json"), "text": text}
    write_private(folder / f"{content.header.context_pack_ref}.json", canonical_json(document).encode())


def load_pack(call: Call, run: Run, ref: str) -> StoredPack | None:
    """The pack with a reference of this run; None where there is none, or it can't be read."""
    if _REF.fullmatch(ref) is None:
        return None
    data = read_small(_pack_folder(call, run) / f"{ref}.json", _LARGEST)
    document = json_object(data.decode("utf-8", "replace")) if data is not None else {}
    try:
        content = PackContent.model_validate(document.get("pack"))
    except ValidationError:
        return None
    return StoredPack(content, str(document.get("text", "")))


def _pack_folder(call: Call, run: Run) -> Path:
    return Path(work_folder(call, run)) / "packs"
