"""The files that commands in the scripts of a `package.json` start."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.core.paths import RepoPath
from codeplane.names import Codebase

_FILE: Final = re.compile(r"[\w./-]+\.(?:m|c)?[jt]s\b")
_BUILT: Final = re.compile(r"^(?:dist|build|lib|out)/(.*)\.(?:m|c)?js$")


def started_files(code: Codebase, command: str) -> Iterator[RepoPath]:
    """The files that a command names; of a built file, the source that it is built from."""
    for path in code.paths_named("package.json"):
        data = code.read(path)
        if data is None or command.encode() not in data:
            continue
        try:
            manifest = decode_json(data)
        except ValueError:
            continue
        scripts = manifest.get("scripts") if isinstance(manifest, dict) else None
        folder = path.rpartition("/")[0]
        for script in scripts.values() if isinstance(scripts, dict) else ():
            for part in str(script).split("&&"):
                name = _FILE.search(part) if part.strip().startswith(command) else None
                file = _existing(code, folder, name[0]) if name is not None else None
                if file is not None:
                    yield file


def _existing(code: Codebase, folder: str, name: str) -> RepoPath | None:
    built = _BUILT.match(name)
    names = [
        name,
        *([f"{head}{built[1]}{end}" for head in ("src/", "") for end in (".ts", ".js")] if built else []),
    ]
    for one in names:
        path = f"{folder}/{one}" if folder else one
        if code.facts(path) is not None:
            return RepoPath(path)
    return None
