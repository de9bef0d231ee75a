"""Real code to measure on: source distributions by name and version, fetched once into `.cache/corpora`."""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance import node

from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.working_tree import WorkingTree

CACHE = Path(__file__).parent.parent / ".cache" / "corpora"


def python_package(name: str, version: str) -> Path:
    """The unpacked source distribution, as a git repository of its own."""
    target = CACHE / f"{name}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        subprocess.run([*download, "--no-binary", name, "-d", str(target), f"{name}=={version}"], check=True)
        [archive] = target.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(target, filter="data")
        archive.unlink()
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def npm_package(name: str, version: str) -> Path:
    """The files of an npm package, as a git repository of its own."""
    target = CACHE / f"{name.rpartition('/')[2]}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copytree(node.package(name, version), target / "package", dirs_exist_ok=True)
        shutil.rmtree(target / "package" / "node_modules", ignore_errors=True)
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def debian_package(name: str, version: str, inside: str) -> Path:
    """A folder of a Debian package, as a git repository of its own: libraries that are kept as source."""
    target = CACHE / f"{name}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
            subprocess.run(["apt-get", "download", "-qq", f"{name}={version}"], cwd=folder, check=True)
            [archive] = Path(folder).glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", str(archive), folder], check=True)
            shutil.copytree(Path(folder) / inside, target / "package", dirs_exist_ok=True)
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def debian_source(name: str, version: str) -> Path:
    """What a Debian source package was made from, as a git repository of its own."""
    target = CACHE / f"{name}-{version}"
    if not (target / ".git").exists():
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
            apt = ["apt-get", "-qq", *_source_lists(Path(folder))]
            subprocess.run([*apt, "update"], check=True)
            subprocess.run(
                [*apt, "source", "--tar-only", "--download-only", f"{name}={version}"], cwd=folder, check=True
            )
            [archive] = Path(folder).glob("*.orig.tar.*")
            with tarfile.open(archive) as packed:
                packed.extractall(target, filter="data")
        subprocess.run(["git", "init", "-q", str(target)], check=True)
    return target


def _source_lists(folder: Path) -> list[str]:
    """Options by which apt reads the lists of sources, wherever it gets packages from."""
    (folder / "lists" / "partial").mkdir(parents=True)
    known = Path("/etc/apt/sources.list.d/debian.sources").read_text()
    (folder / "source.sources").write_text(known.replace("Types: deb\n", "Types: deb-src\n"))
    return [
        f"-oDir::Etc::sourcelist={folder}/source.sources",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::lists={folder}/lists",
        "-oAPT::Sandbox::User=root",
    ]


def repository_at(name: str, commit: str) -> Path:
    """A public repository at a commit."""
    target = CACHE / f"{name.rpartition('/')[2]}-{commit[:12]}"
    if not (target / ".git" / "FETCH_HEAD").exists():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        _git(target, "init", "-q")
        _git(target, "fetch", "-q", "--depth", "1", f"https://github.com/{name}", commit)
        _git(target, "checkout", "-q", commit)
    return target


@contextmanager
def indexed(root: Path) -> Iterator[Index]:
    """A fresh index of a repository, with everything read."""
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        workers = Workers(2)
        tree = WorkingTree(root, open_repository(root, trusted=False))
        index = Index.open(Path(base) / "index.db", tree, workers)
        try:
            index.refresh()
            workers.close()
            yield index
        finally:
            index.close()


def python_history(name: str, versions: tuple[str, ...]) -> Path:
    """Source distributions one after the other, each a commit with its version as a tag."""
    target = CACHE / f"{name}-{versions[0]}-to-{versions[-1]}"
    if not (target / ".git" / "refs" / "tags" / versions[-1]).exists():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        _git(target, "init", "-q")
        for version in versions:
            [source] = [path for path in python_package(name, version).iterdir() if path.name != ".git"]
            _take(source, target)
            _git(target, "add", "-A")
            _git(target, "commit", "-qm", f"{name} {version}")
            _git(target, "tag", version)
    return target


def _take(source: Path, target: Path) -> None:
    """Makes everything in `target` but its history what it is in `source`."""
    for old in target.iterdir():
        if old.name != ".git":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)


def _git(root: Path, *arguments: str) -> None:
    author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)
