"""rope and jedi on the other end of two pipes. Run as a program, by the Python that has them installed."""

import json
import sys
from pathlib import Path
from typing import Any


def rope(root: str, asked: dict[str, Any]) -> dict[str, str]:
    from rope.base.project import Project  # type: ignore[import-not-found]
    from rope.refactor.rename import Rename  # type: ignore[import-not-found]

    project = Project(root, ropefolder=None)
    try:
        resource = project.get_resource(asked["path"])
        changes = Rename(project, resource, asked["offset"]).get_changes(asked["new"])
        return {one.resource.path: one.new_contents for one in changes.changes}
    finally:
        project.close()


def jedi(root: str, asked: dict[str, Any]) -> dict[str, str]:
    import jedi  # type: ignore[import-not-found]

    script = jedi.Script(path=Path(root) / asked["path"], project=jedi.Project(root))
    found = script.rename(asked["line"], asked["column"], new_name=asked["new"])
    if found.get_renames():
        raise ValueError("files would be renamed")
    changed = found.get_changed_files()
    return {str(path.relative_to(root)): one.get_new_code() for path, one in changed.items()}


def serve(tool: str, root: str) -> None:
    """Answers each line with the new contents of files, or with the error that came instead."""
    rename = {"rope": rope, "jedi": jedi}[tool]
    sys.setrecursionlimit(5_000)
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"files": rename(root, json.loads(line))}
        except Exception as error:  # noqa: BLE001 - whatever a library raises is its answer
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:3])
