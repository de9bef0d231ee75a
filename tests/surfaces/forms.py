"""Files of text cases: `# name`, files after `--- path`, and what is expected after `=>`."""

from collections.abc import Iterator, Sequence
from pathlib import Path


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    """The forms of a file: their names and bodies."""
    for block in ("\n" + path.read_text()).split("\n# ")[1:]:
        name, _, body = block.partition("\n")
        yield name, body.rstrip("\n") + "\n"


def files_of(body: str) -> dict[str, str]:
    """The files of a form."""
    files: dict[str, str] = {}
    path = ""
    for line in body.splitlines():
        if line.startswith("=> "):
            path = ""
        elif line.startswith("--- "):
            path = line[4:]
            files[path] = ""
        elif path:
            files[path] += f"{line}\n"
    return files


def write_block(path: Path, name: str, body: str, rows: Sequence[str]) -> None:
    """Puts other expectations into a form."""
    head = "".join(f"{line}\n" for line in body.splitlines() if line and not line.startswith("=> "))
    text = f"\n# {name}\n{head}" + "".join(f"=> {row}\n" for row in rows or ["nothing"])
    whole = "\n" + path.read_text()
    path.write_text(whole.replace(f"\n# {name}\n{body}", text, 1).removeprefix("\n"))
