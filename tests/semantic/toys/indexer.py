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

DEFINITION = re.compile(rb"^ *def (\w+)", re.MULTILINE)
OUTSIDE = (
    *("../../etc/passwd", "/etc/passwd", "link.py", "folder/lib.py", ".git/config", ".git/hooks/pre-commit"),
    *("./lib.py", "inner/../lib.py", "lib.py/", "", ".", "lib.py\0", "C:\\lib.py", "a" * 5_000),
)
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
                roles = varint(3 << 3) + varint(1) if line[: match.start()].lstrip() == b"def " else b""
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
    if mode == "bomb":
        for _ in range(600):
            subprocess.Popen(["sleep", "97"])
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
        data = index(paths)
        for path in OUTSIDE:
            content = Path(path).read_bytes() if os.path.isfile(path) else b"def helper():\n    pass\n"
            data += document(path, content, {b"helper": b"toy . app 1 `lib.py`/helper()."})
    if mode == "huge_symbol":
        data += document("app.py", b"helper", {b"helper": b"toy . app 1 " + b"x" * (1 << 20) + b"."})
    if mode == "many_symbols":
        lines = [b"helper"] * 200_000
        data += document("app.py", b"\n".join(lines), {b"helper": b"toy . app 1 `lib.py`/helper()."})
    if mode == "newer":
        # A version, fields and an encoding that nobody knows yet.
        metadata = varint(1 << 3) + varint(99) + field(2, field(1, b"toy") + field(2, b"9" * 500))
        metadata += varint(4 << 3) + varint(77) + field(15, b"later")
        whole = data[len(field(1, field(2, field(1, b"toy") + field(2, b"1.0")))) :]
        data = field(1, metadata) + whole + field(14, b"later") + varint(13 << 3) + varint(7)
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
        if mode == "sparse":  # half a gigabyte that is there at once
            stream.truncate(500 << 20)
        if mode == "text":  # one document with half a gigabyte of text
            size = 500 << 20
            stream.write(varint(2 << 3 | 2) + varint(size + 6) + varint(5 << 3 | 2) + varint(size))
            for _ in range(size >> 20):
                stream.write(b" " * (1 << 20))
        if mode == "skipped":  # a field that nobody knows, half a gigabyte long
            stream.write(varint(14 << 3 | 2) + varint(500 << 20))
            for _ in range(500):
                stream.write(b" " * (1 << 20))
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
