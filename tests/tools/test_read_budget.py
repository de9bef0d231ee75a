from pathlib import Path

from codeplane.session import RepoSession
from tests.tools.conftest import Ask


def test_a_large_file_is_read_only_after_its_size_has_been_told(ask: Ask, repo: Path) -> None:
    (repo / "big.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(1000)))
    for arguments in ({}, {"confirm": True}):
        first = ask("read_file_full", client=str(arguments), path="big.py", **arguments)["result"]
        assert "content" not in first and first["lines"] == 4000
        assert first["outline"][0] == "1-2 function f0" and len(first["outline"]) == 60
    second = ask("read_file_full", client="{}", path="big.py", confirm=True)["result"]
    assert second["content"].startswith("def f0():\n    return 0\n")


def test_a_file_that_has_changed_since_is_offered_anew(ask: Ask, repo: Path) -> None:
    (repo / "big.py").write_text("x = 1\n" * 5000)
    ask("read_file_full", path="big.py")
    (repo / "big.py").write_text("x = 2\n" * 9000)
    assert "content" not in ask("read_file_full", path="big.py", confirm=True)["result"]


def test_a_file_larger_than_an_answer_comes_in_parts(ask: Ask, repo: Path) -> None:
    text = "".join(f"line {n} {'x' * 90}\n" for n in range(2000))
    (repo / "big.txt").write_text(text)
    ask("read_file_full", path="big.txt")
    parts, line = [], 1
    while line:
        body = ask("read_file_full", path="big.txt", confirm=True, start_line=line)
        parts.append(body["result"]["content"])
        line = body["result"].get("next_line")
    assert len(parts) == 3 and "\n".join(parts) + "\n" == text


def test_one_endless_line_does_not_stop_the_reading(ask: Ask, repo: Path) -> None:
    (repo / "min.js").write_text("a" * 300_000 + "\nend\n")
    ask("read_file_full", path="min.js")
    first = ask("read_file_full", path="min.js", confirm=True)["result"]
    assert len(first["content"]) == 80_000 and first["next_line"] == 2


def test_a_session_that_has_read_its_share_is_stopped(ask: Ask, repo: Path, session: RepoSession) -> None:
    (repo / "a.txt").write_text("word\n" * 100)
    budget = session.sessions.enter("a client").read_budget
    budget.most = 1000
    assert "warnings" not in ask("read_source", targets=["a.txt:1-50"])["meta"]
    assert "read budget" in ask("read_source", targets=["a.txt"])["meta"]["warnings"][0]
    error = ask("read_source", targets=["a.txt"])["error"]
    assert error["name"] == "READ_BUDGET_SPENT" and "repeat the call" in error["hints"][0]
    assert "result" in ask("read_source", client="another", targets=["a.txt"])
    assert "result" in ask("read_source", targets=["a.txt"])
    assert ask("reset_budget")["result"]["spent"] > 0


def test_the_total_counts_answers_that_save_nothing_as_cost(ask: Ask, session: RepoSession) -> None:
    ask("describe")
    report = session.token_savings.report()
    assert report["spared"] == 0 and report["net"] == -report["cost"] < 0
