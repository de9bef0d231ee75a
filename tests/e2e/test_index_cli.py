"""`cpl index`, as people and a CI use it; and what a kill leaves."""

import json
import random
import subprocess
import time
from pathlib import Path

from codeplane.index import check_index
from codeplane.storage.database import reading
from tests.drive import CPL, Cpl, git, new_repo, user_env

FILES = {
    f"pkg/m{n}.py": f"class C{n}:\n    def f(self, a):\n        return self.f(a + {n})\n" for n in range(40)
}


def clone(cpl: Cpl, folder: Path) -> Cpl:
    git(folder.parent, "clone", "-q", str(cpl.repo), folder.name)
    return Cpl(folder, user_env(folder.parent / f"home-{folder.name}"))


def blobs(cpl: Cpl) -> int:
    with reading(cpl.repo / ".codeplane" / "index.db") as connection:
        return int(connection.execute("SELECT count(*) FROM blob").fetchone()[0])


def test_a_ci_pushes_and_a_laptop_pulls(cpl: Cpl, tmp_path: Path) -> None:
    store = tmp_path / "store"
    laptop = clone(cpl, tmp_path / "laptop")
    assert "needs a store, or the setting index.store" in cpl.run("index", "push").stderr
    config = Path(cpl.env["HOME"]) / ".config" / "codeplane" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"index:\n  store: {store}\n")
    pushed = cpl.run("index", "push")
    assert pushed.returncode == 0 and "1 of 1 contents are new (1 segments, 0.0 MB)." in pushed.stdout
    status = laptop.run("index", "status", str(store)).stdout
    assert "in the store" in status and "index: none yet" in status
    assert not (laptop.repo / ".codeplane" / "index.db").exists()
    pulled = laptop.json("index", "pull", str(store))
    assert (pulled["missing"], pulled["from_store"], pulled["samples"], pulled["left"]) == (1, 1, 1, 0)
    assert "already" in laptop.run("index", "pull", str(store)).stdout
    assert "0 of 1 contents of the commit are not read" in laptop.run("index", "status", str(store)).stdout
    assert git(laptop.repo, "status", "--porcelain") == ""


def test_a_file_carries_facts_beside_a_running_server(cpl: Cpl, tmp_path: Path) -> None:
    file, laptop = tmp_path / "facts.tar", clone(cpl, tmp_path / "laptop")
    assert cpl.run("index", "export", str(file)).returncode == 0
    with laptop.up():
        (cpl.repo / "later.py").write_text("def later(): ...\n")
        git(cpl.repo, "add", "-A")
        git(cpl.repo, "commit", "-qm", "later")
        assert cpl.run("index", "export", str(file)).returncode == 0
        git(laptop.repo, "fetch", "-q")
        assert laptop.json("index", "import", str(file))["from_store"] == 1
        git(laptop.repo, "merge", "-q", "--ff-only", "origin/HEAD")
        found = laptop.run("call", "search", json.dumps({"query": "later", "mode": "symbol"})).stdout
        assert "later.py" in found


def test_mistakes_are_named(cpl: Cpl, tmp_path: Path) -> None:
    for arguments, code, text in (
        (("import",), 2, "import needs a file"),
        (("import", str(tmp_path / "none.tar")), 1, "no file that can be read"),
        (("export", str(tmp_path / "no" / "where.tar")), 1, "can't be written"),
        (("pull", "ftp://x/y"), 2, "is no store"),
        (("push", str(tmp_path), "--again"), 2, "push takes no --again"),
        (("push", str(tmp_path), "--commit", "nowhere"), 1, "no commit 'nowhere'"),
    ):
        refusal = cpl.run("index", *arguments)
        assert refusal.returncode == code and text in refusal.stderr, refusal.stderr


def test_an_import_that_is_killed_leaves_all_or_nothing(tmp_path: Path) -> None:
    author = Cpl(new_repo(tmp_path / "author", FILES), user_env(tmp_path / "home"))
    file = tmp_path / "facts.tar"
    assert author.run("index", "export", str(file)).returncode == 0
    laptop = clone(author, tmp_path / "laptop")
    index = laptop.repo / ".codeplane" / "index.db"
    dice = random.Random(7)
    counts = set()
    for _ in range(4):
        # From the moment that there is a database on, wherever it is.
        process = subprocess.Popen(
            [*CPL, "index", "import", str(file)], cwd=laptop.repo, env=laptop.env, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and not index.exists():
            time.sleep(0.002)
        time.sleep(dice.uniform(0, 0.5))
        process.kill()
        process.wait()
        if index.exists() and check_index(index) == []:
            counts.add(blobs(laptop))
    assert counts <= {0, len(FILES)}
    assert laptop.json("index", "import", str(file))["left"] == 0
    assert check_index(index) == [] and blobs(laptop) == len(FILES)


def test_a_baseline_comes_from_the_default_store(cpl: Cpl, tmp_path: Path) -> None:
    store, laptop = tmp_path / "store", clone(cpl, tmp_path / "laptop")
    assert cpl.run("index", "push", str(store)).returncode == 0
    env = {**laptop.env, "CODEPLANE__INDEX__STORE": str(store)}
    answer = Cpl(laptop.repo, env).json("call", "index_ensure_baseline", "{}")
    assert answer["result"]["from_cache"] is True
    store.rename(tmp_path / "away")
    (laptop.repo / "own.py").write_text("own = 1\n")
    git(laptop.repo, "add", "-A")
    git(laptop.repo, "commit", "-qm", "own")
    answer = Cpl(laptop.repo, env).json("call", "index_ensure_baseline", "{}")
    assert "from_cache" not in answer["result"] and answer["result"]["stats"]["file_count"] == 2
    assert "shared store was not used" in str(answer["meta"]["warnings"])
