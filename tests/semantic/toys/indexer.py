"""A batch indexer for tests: says which functions of a module calls mean, well or with malice.

Usage: indexer.py MODE OUTPUT [ARGUMENT]. Run by the project's Python: it imports nothing of CodePlane.
"""

import os
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path

DEFINITION = re.compile(rb"^def (\w+)", re.MULTILINE)
NAME = re.compile(rb"\b[A-Za-z_]\w*\b")


def varint(value: int) -> bytes:
    data = bytearray()
    while True:
        data.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(data)


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def index(paths: list[str], turns: bool = False) -> bytes:
    """An index in which each name that some file defines means that definition, whatever file it is in.

    With `turns`, a name means another definition, which one follows from the whole content of its file.
    """
    texts = {path: Path(path).read_bytes() for path in paths}
    symbols = {}
    for path, text in texts.items():
        for match in DEFINITION.finditer(text):
            symbols[match[1]] = b"toy . app 1 `%s`/%s()." % (path.encode(), match[1])
    names = sorted(symbols)
    documents = []
    for path, text in texts.items():
        by = zlib.crc32(text) if turns else 0
        means = {name: symbols[names[(at + by) % len(names)]] for at, name in enumerate(names)}
        documents.append(document(path, text, means if b"\ndef " not in text else symbols))
    return field(1, field(2, field(1, b"toy") + field(2, b"1.0"))) + b"".join(documents)


def document(path: str, text: bytes, symbols: dict[bytes, bytes]) -> bytes:
    data = field(1, path.encode()) + varint(6 << 3) + varint(1)
    for number, line in enumerate(text.split(b"\n")):
        for match in NAME.finditer(line):
            if match[0] in symbols:
                span = varint(number) + varint(match.start()) + varint(match.end())
                roles = varint(3 << 3) + varint(1) if line[: match.start()] == b"def " else b""
                data += field(2, field(1, span) + field(2, symbols[match[0]]) + roles)
    return field(2, data)


def main(mode: str, output: str, argument: str = "") -> None:
    paths = sorted(str(path) for path in Path().rglob("*.py"))
    if mode == "wait":
        Path(argument + ".ready").touch()
        end = time.monotonic() + 60  # whoever waits for it may have been killed
        while not Path(argument + ".go").exists() and time.monotonic() < end:
            time.sleep(0.02)
    if mode == "meet":
        Path(argument + f".{os.getpid()}").touch()
        while len(list(Path(argument).parent.glob(Path(argument).name + ".*"))) < 2:
            time.sleep(0.02)
    if mode == "hang":
        source = f"import time; time.sleep({argument or 97})"
        subprocess.Popen([sys.executable, "-c", source], start_new_session=True)
        time.sleep(97)
    if mode == "memory":
        held = [b"x" * (16 << 20) for _ in range(100)]
        time.sleep(97 + len(held))
    if mode == "die":
        sys.stderr.write("something is broken\n" * 10_000)
        os.abort()
    if mode == "code":
        sys.exit("cannot resolve the project")
    if mode == "environment":
        time.sleep(0.2)
        sys.exit(f"TOY_SAYS is {os.environ.get('TOY_SAYS')}, at {os.getpriority(os.PRIO_PROCESS, 0)}")
    if mode == "silent":
        return
    data = index(paths, turns=mode == "turns")
    if mode == "turns":
        time.sleep(0.1)
    if mode == "half":
        data = index(paths[:1])
    if mode == "truncated":
        data = data[: len(data) // 2 + 3]
    if mode == "garbage":
        data = os.urandom(200_000)
    if mode == "outside":
        data = index(paths) + document("../../etc/passwd", b"", {}) + document("/etc/passwd", b"", {})
    if mode == "link":
        os.symlink(argument, output)
        return
    if mode == "fifo":
        os.mkfifo(output)
        return
    if mode == "swapped":
        Path(output).parent.rmdir()
        os.symlink(argument, Path(output).parent)
    if mode == "writes":
        Path(argument, "app.py").write_text("broken = True\n")
        Path(argument, "left.py").write_text("planted = True\n")
    if mode == "scratch":
        Path("lib.py").write_text("def another():\n    pass\n\n\ndef helper():\n    pass\n")
        data = index(paths)
    with open(output, "wb") as stream:
        stream.write(data)
        if mode == "large":
            for _ in range(400):
                stream.write(b"\0" * (1 << 20))
                stream.flush()
                time.sleep(0.02)


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print("toy 1.0")
    else:
        main(*sys.argv[1:])
