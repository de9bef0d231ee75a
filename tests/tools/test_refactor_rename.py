"""What a text case cannot show of renames: plans whose time is over, odd bytes, and what a mode promises."""

from pathlib import Path

from codeplane.session.plans import Plans
from tests.drive import new_repo
from tests.tools.repo import Repo, trust

FILES = {
    "store.py": "def load(path):\n    return path\n",
    "app.py": "from store import load\n\nload(path=1)\n",
}


def test_a_plan_whose_time_is_over_is_not_applied(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    repo.session.plans = Plans(lambda: repo.session.state_db, repo.session.tree.jail.enter, life_sec=0)
    proof = {"symbol_identity": "store.load"}
    for tool, more in (("refactor_apply", {}), ("decision_commit", {"proof": proof})):
        made = repo.result("refactor_rename", symbol="store.load", new_name="read", apply="never")
        error = repo.error(tool, plan=made["plan"], **more)
        assert error["name"] == "PLAN_GONE" and "expired" in error["message"]
    assert (repo.root / "store.py").read_text() == FILES["store.py"]


def test_a_plan_for_a_local_rests_on_its_file_alone(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {"a.js": "function f() {\n  const one = 1;\n  let two = one;\n  return two;\n}\n"})
    made = repo.result("refactor_rename", symbol="a.f", name="two", new_name="three", apply="never")
    assert made["outcome"] == "ok"
    repo.write("other.js", "const two = 2, three = 3;\n")
    assert repo.result("refactor_apply", plan=made["plan"])["applied"]
    assert "let three = one;\n  return three;" in (repo.root / "a.js").read_text()


def test_a_plan_for_a_parameter_is_stale_when_a_call_comes_to_be(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = repo.result("refactor_rename", symbol="store.load.path", new_name="file", apply="never")
    repo.write("more.py", "from store import load\n\nload(path=2)\n")
    assert repo.error("refactor_apply", plan=made["plan"])["name"] == "PLAN_STALE"


def test_letters_of_several_bytes_and_line_ends_of_two_stay(tmp_path: Path) -> None:
    text = "def größe(wert):\r\n    é = wert; ü = {'é': é}\r\n    return é, ü  # `é` bleibt\r\n"
    repo = Repo(tmp_path, {})
    (repo.root / "a.py").write_bytes(text.encode())
    made = repo.result("refactor_rename", symbol="a.größe", name="é", new_name="ö", apply="if_certain")
    assert made["outcome"] == "ok"
    after = "def größe(wert):\r\n    ö = wert; ü = {'é': ö}\r\n    return ö, ü  # `ö` bleibt\r\n"
    assert (repo.root / "a.py").read_bytes() == after.encode()


def test_documents_with_other_endings_than_the_settings_name_stay(tmp_path: Path) -> None:
    files = {**FILES, "a.md": "Call `store.load` first.\n", "a.rst": "Call ``store.load`` first.\n"}
    sweep = "refactor:\n  doc_sweep:\n    enabled: true\n    scan_extensions:\n      - .md\n"
    root = new_repo(tmp_path / "repo", {**files, ".codeplane/config.yaml": sweep})
    trust(root, tmp_path)
    repo = Repo.at(root, tmp_path)
    made = repo.result("refactor_rename", symbol="store.load", new_name="read")
    assert made["applied"]["applied"]
    assert (repo.root / "a.md").read_text() == "Call `store.read` first.\n"
    assert (repo.root / "a.rst").read_text() == files["a.rst"]
    assert any(line.startswith("a.rst:1") for line in made["mentions_left"])


def test_other_ways_to_say_it_are_accepted(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {**FILES, "names.py": "def get(module, name):\n    return getattr(module, name)\n"})
    asked = {"symbol": "store.load", "new_name": "read", "context_id": "python", "apply": "never"}
    assert repo.result("refactor_rename", **asked)["outcome"] == "ok"
    for forced in ({"force_syntactic": True}, {"mode": "force_syntactic"}):
        assert repo.result("refactor_rename", **asked, **forced)["outcome"] in ("ok", "ok_syntactic")
