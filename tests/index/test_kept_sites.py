"""Sites are kept by content, as long as the content is, for the version of what has read them."""

from pathlib import Path

from codeplane.index import keep_sites
from codeplane.index.gc import collect
from codeplane.languages.sites import pack_sites, read_sites, unpack_sites
from codeplane.names import Index

_CODE = "app = make(1)\n"
_PACKED = pack_sites(read_sites("python", _CODE.encode()))


def _blob(index: Index) -> int:
    index.refresh()
    with index.snapshot() as snapshot:
        blob = snapshot.layout.blobs["app.py"]
    assert blob is not None
    return blob


def _kept(index: Index, blob: int) -> bytes | None:
    with index.snapshot() as snapshot:
        assert snapshot.without_sites([blob]) == (set() if snapshot.kept_sites(blob) else {blob})
        return snapshot.kept_sites(blob)


def test_sites_are_found_by_content(repo: Path, index: Index) -> None:
    (repo / "app.py").write_text(_CODE)
    blob = _blob(index)
    assert _kept(index, blob) is None
    keep_sites(index.database, {blob: _PACKED})
    assert unpack_sites(_kept(index, blob) or b"") == read_sites("python", _CODE.encode())
    (repo / "app.py").write_text(f"{_CODE}\n")
    assert _kept(index, _blob(index)) is None


def test_sites_of_another_version_are_read_anew(repo: Path, index: Index) -> None:
    (repo / "app.py").write_text(_CODE)
    blob = _blob(index)
    keep_sites(index.database, {blob: _PACKED})
    with index.database.write() as connection:
        connection.execute("UPDATE site SET version = 'another'")
    assert _kept(index, blob) is None
    keep_sites(index.database, {blob: _PACKED})
    assert _kept(index, blob) == _PACKED


def test_sites_go_with_their_content(repo: Path, index: Index) -> None:
    (repo / "app.py").write_text(_CODE)
    blob = _blob(index)
    keep_sites(index.database, {blob: _PACKED})
    (repo / "app.py").unlink()
    index.refresh()
    with index.database.write() as connection:
        connection.execute("DELETE FROM change")
    collect(index.database, fewest=1)
    assert _kept(index, blob) is None
    keep_sites(index.database, {blob: _PACKED})  # somebody had read them before the content went
    assert _kept(index, blob) is None
