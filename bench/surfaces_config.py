"""Compares configuration keys with an `ast` walk over packages from PyPI: what only one of them has.

python bench/surfaces_config.py celery==5.4.0 huggingface_hub==0.27.0
"""

import argparse
import ast
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.config_keys import config_surface

PACKAGES = ("celery==5.4.0", "mlflow-skinny==2.19.0", "huggingface_hub==0.27.0")
_ENVIRON_METHODS = {"get", "pop", "setdefault"}
_PATTERNS = {"os.getenv", "os.environ[]", "os.environ.get", "os.environ.setdefault"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    for package in parser.parse_args().packages:
        with tempfile.TemporaryDirectory() as folder:
            compare_package(package, Path(folder))


def compare_package(package: str, folder: Path) -> None:
    """Prints what both walks have in common, and what only one of them has."""
    root = _fetch_package(package, folder)
    reads = {
        (path.relative_to(root).as_posix(), line, key)
        for path in sorted(root.rglob("*.py"))
        for line, key in _environment_reads(path)
    }
    literal = {row for row in reads if row[2] is not None}
    computed = {row[:2] for row in reads if row[2] is None}
    answer, keys, dynamic = _answer_of(root)
    by_value = {row for row in answer - literal if row[:2] in computed}
    extra = answer - literal - by_value
    print(
        f"{package}: literal reads by ast {len(literal)}, common {len(literal & answer)}, "
        f"missing {len(literal - answer)}, extra {len(extra)}; "
        f"computed reads {len(computed)}, of which followed to a text {len(by_value)}; "
        f"keys in all {keys}, dynamic {dynamic}"
    )
    for row in sorted(literal - answer):
        print("  missing", *row)
    for row in sorted(extra):
        print("  extra", *row)


def _fetch_package(package: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "-d", str(folder), package], check=True)
    root = folder / "source"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(root)
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", "-C", str(root), *identity, "commit", "-q", "-m", "corpus"], check=True)
    return root


def _answer_of(root: Path) -> tuple[set[tuple[str, int, str]], int, int]:
    places = Places.of_user({"HOME": str(root.parent / "home")})
    session = RepoSession.open(Checkout.find(root, places))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot:
            surface = config_surface(snapshot)
            answer = {(str(use.path), use.line, use.key) for use in surface.uses if use.pattern in _PATTERNS}
            return answer, len({use.key for use in surface.uses}), sum(surface.dynamic.values())
    finally:
        session.close()


def _environment_reads(path: Path) -> Iterator[tuple[int, str | None]]:
    """Reads of `os.environ` and `os.getenv` by imports of the file; None for a key that is no literal."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return
    modules, environs, getenvs = {"os"}, set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname for alias in node.names if alias.name == "os" and alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            environs |= {alias.asname or alias.name for alias in node.names if alias.name == "environ"}
            getenvs |= {alias.asname or alias.name for alias in node.names if alias.name == "getenv"}

    def is_member(node: ast.expr, member: str, names: set[str]) -> bool:
        if isinstance(node, ast.Name):
            return node.id in names
        if not isinstance(node, ast.Attribute) or node.attr != member:
            return False
        return isinstance(node.value, ast.Name) and node.value.id in modules

    def read_key(node: ast.AST) -> ast.expr | None:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            return node.slice if is_member(node.value, "environ", environs) else None
        if not isinstance(node, ast.Call) or not node.args:
            return None
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _ENVIRON_METHODS:
            return node.args[0] if is_member(function.value, "environ", environs) else None
        return node.args[0] if is_member(function, "getenv", getenvs) else None

    for node in ast.walk(tree):
        key = read_key(node)
        if key is not None and isinstance(node, ast.expr):
            is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
            yield node.lineno, ast.literal_eval(key) if is_text else None


if __name__ == "__main__":
    main()
