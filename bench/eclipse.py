"""Eclipse's Java compiler as a judge of references: it shares no code with javac, which the indexer rests on.

It needs a JDK and Debian's `libeclipse-jdt-core-java` with the libraries of Eclipse that are used by it.
"""

import subprocess
import tempfile
from pathlib import Path
from shutil import which

from tests.conformance.node import Unavailable

LIBRARIES = Path("/usr/share/java")
JARS = (
    "eclipse-jdt-core",
    "eclipse-core-contenttype",
    "eclipse-core-jobs",
    "eclipse-core-resources",
    "eclipse-core-runtime",
    "eclipse-osgi",
    "equinox-common",
    "equinox-preferences",
    "osgi.cmpn",
)
PACKAGES = "default-jdk-headless libeclipse-jdt-core-java libeclipse-core-resources-java libeclipse-osgi-java"
_PROGRAM = Path(__file__).parent / "Judge.java"
_OUTSIDE = ("jdt:outside", 0, 0)


class Eclipse:
    """What Eclipse says that the names in a folder's Java sources mean, asked like a language server."""

    def __init__(self, root: Path) -> None:
        java, jars = which("java"), [LIBRARIES / f"{name}.jar" for name in JARS]
        if java is None or not all(jar.exists() for jar in jars):
            raise Unavailable(f"Eclipse's compiler is missing: apt-get install {PACKAGES}")
        self._root = root.resolve()
        names = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.java"))]
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as files:
            # A module would hide the classes that no module of the folder requires.
            files.write("\n".join(name for name in names if not name.endswith("module-info.java")))
            files.flush()
            command = [java, "-cp", ":".join(map(str, jars)), str(_PROGRAM), str(root), files.name]
            printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
        self._meanings = dict(map(self._meaning, printed.splitlines()))

    def open(self, file: Path, language: str) -> None:
        """Nothing: all files are read at the start."""

    def close_file(self, file: Path) -> None:
        """Nothing: all files are read at the start."""

    def definitions(self, file: Path, line: int, column: int) -> list[tuple[str, int, int]]:
        """URI, line and column of what the name at a place is declared as; all 0-based."""
        meaning = self._meanings.get((file.resolve().as_uri(), line, column))
        return [meaning] if meaning else []

    def stop(self) -> None:
        """Nothing: the program has ended."""

    def _meaning(self, text: str) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
        path, line, column, *target = text.split("\t")
        return self._place(path, line, column), self._place(*target) if len(target) > 1 else _OUTSIDE

    def _place(self, path: str, line: str, column: str) -> tuple[str, int, int]:
        return (self._root / path).as_uri(), int(line), int(column)
