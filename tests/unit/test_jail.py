import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail, beneath, is_closed


@pytest.fixture(params=["openat2", "by component"])
def jail(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jail]:
    if request.param == "by component":
        monkeypatch.setattr(beneath, "kernel_resolves", lambda: False)
    elif not beneath.kernel_resolves():
        pytest.skip("this kernel has no openat2")
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    before = _descriptors()
    yield Jail(root)
    assert _descriptors() == before


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _read(jail: Jail, path: str, **options: bool) -> str:
    fd = jail.open(RepoPath(path), **options)
    with os.fdopen(fd) as stream:
        return stream.read()


@pytest.mark.parametrize("text", ["src/a.py", "./src/a.py", "src//a.py", "src/./a.py/", "src/x/../a.py"])
def test_ways_to_write_one_path_enter_as_one(tmp_path: Path, text: str) -> None:
    assert Jail(tmp_path).enter(text) == "src/a.py"


def test_an_absolute_path_enters_by_any_way_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    for root in ("real", "alias"):
        jail = Jail(tmp_path / root)
        for way in ("real", "alias", "alias/../real"):
            assert jail.enter(f"{tmp_path}/{way}/deep/x") == "deep/x"
            assert jail.enter(f"{tmp_path}/{way}", directory=True) == ""


OUTSIDE = ["..", "../x", "a/../../x", "/etc/passwd", "/", "."]
MALFORMED = ["", " ", "a\0b", "a" * 256, "a/" * 3000, "\ud800"]
CLOSED = [".git/config", ".GIT/config", "sub/.git/config", ".git", ".codeplane/token", ".CodePlane/token"]
SHORT = ["git~1/config", "GIT~1", "codepl~1/token", ".git./x", ".git /x", ".git . /x", ".git\\config"]
DISGUISED = [".g\u200cit/x", ".git\ufeff", "\u202e.git", ".git::$INDEX_ALLOCATION/x", ".ｇｉｔ/config"]


@pytest.mark.parametrize("text", [*OUTSIDE, *MALFORMED, *CLOSED, *SHORT, *DISGUISED])
def test_what_leads_out_or_is_closed_is_refused_with_a_reason(tmp_path: Path, text: str) -> None:
    with pytest.raises(PathRefused) as caught:
        Jail(tmp_path).enter(text)
    assert caught.value.message.endswith(".")
    str(caught.value.to_wire()).encode()


@pytest.mark.parametrize(
    "text", [".gitignore", ".github/x", "git", "git~", ".gitx", "...", "a.git", "é", "\udcff"]
)
def test_what_only_looks_like_a_closed_name_is_open(tmp_path: Path, text: str) -> None:
    assert Jail(tmp_path).enter(text) == text


def test_the_neighbour_whose_name_begins_alike_is_outside(tmp_path: Path) -> None:
    (tmp_path / "root-2").mkdir()
    (tmp_path / "root").mkdir()
    with pytest.raises(PathRefused):
        Jail(tmp_path / "root").enter(f"{tmp_path}/root-2/x")


@given(st.text(alphabet="ab./\\~ \u200d\udc80", max_size=12))
def test_whatever_enters_stays_inside(text: str) -> None:
    root = Path("/nowhere/at/all")
    try:
        path = Jail(root).enter(text)
    except PathRefused:
        return
    except FileNotFoundError:
        assert text.startswith("/")
        return
    assert os.path.normpath(f"{root}/{path}") == f"{root}/{path}"
    assert not any(is_closed(segment) for segment in path.split("/"))


def test_a_file_and_a_directory_inside_open(jail: Jail) -> None:
    assert _read(jail, "src/a.py") == "inside"
    for name in ("", "src"):
        fd = jail.open(RepoPath(name), directory=True)
        assert os.listdir(fd)
        os.close(fd)


def test_a_link_is_followed_only_when_asked_and_only_inside(jail: Jail) -> None:
    (jail.root / "in").symlink_to("src/../src/a.py")
    (jail.root / "dir").symlink_to("src")
    (jail.root / "absolute").symlink_to(jail.root / "src" / "a.py")
    for name in ("in", "dir/a.py", "absolute"):
        with pytest.raises(PathRefused, match="symbolic link"):
            _read(jail, name)
        assert _read(jail, name, follow=True) == "inside"


@pytest.mark.parametrize("target", ["../secret", "{base}/secret", "loop", ".git/config", "src/../../secret"])
def test_a_link_out_is_never_followed(jail: Jail, target: str) -> None:
    (jail.root / ".git").mkdir()
    (jail.root / ".git" / "config").write_text("")
    (jail.root / "loop").symlink_to("loop")
    (jail.root / "out").symlink_to(target.format(base=jail.root.parent))
    for follow in (True, False):
        with pytest.raises(PathRefused):
            _read(jail, "out", follow=follow)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


@pytest.mark.parametrize("make", [_fifo, _socket, Path.mkdir])
def test_only_regular_files_open(jail: Jail, make: Callable[[Path], None]) -> None:
    make(jail.root / "odd")
    with pytest.raises(PathRefused, match="not a regular file"):
        jail.open(RepoPath("odd"))


def test_what_is_not_there_is_not_found(jail: Jail) -> None:
    for name in ("no", "no/such", "src/a.py/x"):
        with pytest.raises(NotFound):
            jail.open(RepoPath(name))
    with pytest.raises(NotFound):
        jail.open(RepoPath("src/a.py"), directory=True)


def test_a_forged_path_does_not_climb(jail: Jail) -> None:
    with pytest.raises(PathRefused):
        jail.open(RepoPath("../secret"))


def test_a_directory_swapped_for_a_link_never_leads_out(jail: Jail) -> None:
    (jail.root.parent / "away").mkdir()
    (jail.root.parent / "away" / "a.py").write_text("outside")
    for _ in range(200):
        (jail.root / "src").rename(jail.root / "kept")
        (jail.root / "src").symlink_to("../away")
        with pytest.raises(PathRefused):
            _read(jail, "src/a.py", follow=True)
        (jail.root / "src").unlink()
        (jail.root / "kept").rename(jail.root / "src")
        assert _read(jail, "src/a.py") == "inside"
