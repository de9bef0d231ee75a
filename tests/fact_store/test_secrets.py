"""What leaves the machine: facts of committed files that may be seen, and nothing else."""

import dataclasses
import re
import tarfile
import zlib
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.fact_store.archive_store import ArchiveStore
from codeplane.fact_store.layout import SegmentName
from codeplane.fact_store.segment import Segment
from codeplane.names import Index
from codeplane.session.shared_facts import export_file
from codeplane.working_tree import Opened, WorkingTree
from tests.drive import git
from tests.fact_store.conftest import Machine, commit

# Each marks one place that it must not leave.
BLOCKED = {
    ".env": "ZQENV = 1\n",
    ".env.production": "ZQPRODUCTION = 1\n",
    "deploy/server.pem": "ZQPEM\n",
    "id_rsa": "ZQRSA\n",
    ".npmrc": "zqnpmrc=1\n",
    "config/.aws/credentials": "ZQAWS = 1\n",
    "private/plan.py": "def zqexcluded(): return 'ZQEXCLUDED'\n",
    ".codeplane/config.yaml": "zqconfig: 1\n",
    ".codeplane/surfaces/own.yaml": "zqsurface: 1\n",
}


def texts_of(file: Path) -> str:
    """Everything that a file with facts says, unpacked."""
    texts = [file.read_bytes()]
    with tarfile.open(file) as archive:
        for entry in archive:
            stream = archive.extractfile(entry)
            assert stream is not None
            data = stream.read()
            if entry.name.startswith("repo/") and not entry.name.endswith("HEAD"):
                texts.append(zlib.decompress(data.partition(b"\n")[2]))
    with ArchiveStore.open(file) as store:
        for key in store.keys("facts"):
            segment = Segment.open(store, SegmentName(key.split("/")[1], key.split("/")[3]))
            assert segment is not None
            texts += [record for _, record in segment.records(dict.fromkeys(segment._places, 1 << 30))]
    return b"\n".join(texts).decode("utf-8", "replace")


def secrets_in(text: str) -> list[str]:
    return sorted(set(re.findall("zq[a-z]{3,}", text.lower())))


def fill(machine: Machine) -> None:
    """A repository with something to hide in every place that facts are read from, and all of it indexed."""
    repo = machine.repo
    commit(repo, {**BLOCKED, ".cplignore": "private/\n", "seen.py": "def wanted_name(): ...\n"})
    git(repo, "checkout", "-q", "-b", "other")
    commit(repo, {"branch.py": "zqbranch = 1\n"})
    git(repo, "checkout", "-q", "-")
    (repo / "put_aside.py").write_text("zqstash = 1\n")
    git(repo, "add", "-A")
    git(repo, "stash", "-q")
    (repo / "seen.py").write_text("def zqedited(): ...\n")
    (repo / "staged.py").write_text("zqstaged = 1\n")
    git(repo, "add", "staged.py")
    (repo / "untracked.py").write_text("zquntracked = 1\n")
    (repo / ".gitignore").write_text("ignored/\n")
    (repo / "ignored").mkdir()
    (repo / "ignored" / "x.py").write_text("zqignored = 1\n")
    tree = WorkingTree(repo, machine.checkout.repository, Opened())
    index = Index.open(machine.file, tree, machine.workers)
    index.refresh()
    with index.overlay({RepoPath("virtual.py"): b"zqoverlay = 1\n"}):
        pass
    with index.commit_snapshot("other"):
        pass
    index.close()


def test_a_file_of_facts_has_what_was_committed_and_may_be_seen(author: Machine, tmp_path: Path) -> None:
    fill(author)
    author.export(tmp_path / "facts.tar")
    text = texts_of(tmp_path / "facts.tar")
    assert "wanted_name" in text and "shop/cart.py" in text
    assert secrets_in(text) == []
    for name in BLOCKED:
        assert name not in text, name


def test_it_has_no_path_of_the_machine(author: Machine, tmp_path: Path) -> None:
    (author.repo / "link").symlink_to(tmp_path / "elsewhere")
    git(author.repo, "remote", "add", "origin", f"file://{tmp_path}/origin.git")
    git(author.repo, "remote", "add", "other", "https://user:zqpassword@example.org/zqplace/repo.git")
    git(author.repo, "add", "-A")
    git(author.repo, "commit", "-qm", "link")
    author.export(tmp_path / "facts.tar")
    text = texts_of(tmp_path / "facts.tar")
    assert str(tmp_path) not in text and str(Path.home()) not in text and tmp_path.parts[2] not in text
    assert "T <t@example.org>" not in text and secrets_in(text) == []


def test_a_secret_that_is_opened_here_is_not_for_others(author: Machine, tmp_path: Path) -> None:
    commit(author.repo, {".env": "zqopened = 1\n", ".cplignore": "!.env\n"})
    checkout = dataclasses.replace(author.checkout, opened=("!.env",))
    tree = WorkingTree(author.repo, checkout.repository, Opened(checkout.opened))
    index = Index.open(author.file, tree, author.workers)
    index.refresh()
    with index.snapshot() as snapshot:
        assert ".env" in {str(file.path) for file in snapshot.files(99).items}
    export_file(checkout, index, "HEAD", tmp_path / "facts.tar")
    index.close()
    assert secrets_in(texts_of(tmp_path / "facts.tar")) == []


def test_what_was_put_aside_is_no_commit_to_share(author: Machine, tmp_path: Path) -> None:
    (author.repo / "aside.py").write_text("zqstash = 1\n")
    git(author.repo, "add", "-A")
    git(author.repo, "stash", "-q")
    for name in ("stash", "stash@{0}", git(author.repo, "rev-parse", "stash")):
        with pytest.raises(InvalidArgument, match="put aside"):
            author.export(tmp_path / "facts.tar", name)
    assert not (tmp_path / "facts.tar").exists()


def test_a_repository_cannot_name_the_store(author: Machine) -> None:
    """Who may write to a repository could have facts of another one sent to them."""
    settings = author.checkout.settings
    assert settings.index.store == ""
    from codeplane.config.layers import Source, load_settings
    from codeplane.core.errors import InvalidSetting

    source = Source("config.yaml", {"index": {"store": "s3://theirs/x"}}, is_repository=True)
    with pytest.raises(InvalidSetting, match="can't be set by a repository"):
        load_settings([source])
    assert isinstance(author.checkout.places, Places)
