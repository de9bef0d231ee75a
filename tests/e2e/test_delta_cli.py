"""`cpl delta match` and `cpl delta tree`, as a user runs them."""

from tests.drive import Cpl


def test_a_pattern_is_matched_over_the_repository(cpl: Cpl) -> None:
    (cpl.repo / "web.py").write_text("import requests\n\nrequests.get(url, timeout=3)\nrequests.get(url)\n")
    answer = cpl.run("delta", "match", "requests.get($URL, $$$REST)")
    assert answer.returncode == 0
    assert "web.py\n3: requests.get(url, timeout=3)  [$REST = timeout=3, $URL = url]\n" in answer.stdout
    assert answer.stdout.rstrip().endswith("2 matches in 1 file")
    none = cpl.run("delta", "match", "requests.get($URL, verify=$V)", "web.py")
    assert "web.py:3: requests.get(url, timeout=3): `timeout` is not `verify`" in none.stdout
    wrong = cpl.run("delta", "match", "if $X:", "web.py")
    assert wrong.returncode == 1 and "The body is missing" in wrong.stdout + wrong.stderr


def test_the_nodes_of_a_line_are_shown_with_their_fields(cpl: Cpl) -> None:
    (cpl.repo / "web.py").write_text("import requests\n\nrequests.get(url)\n")
    answer = cpl.run("delta", "tree", "web.py:3")
    assert answer.stdout.splitlines() == [
        "expression_statement",
        "  call",
        "    function: attribute",
        "      object: identifier 'requests'",
        "      attribute: identifier 'get'",
        "    arguments: argument_list",
        "      identifier 'url'",
    ]
    assert cpl.run("delta", "tree", "web.py").returncode == 2
    assert cpl.run("delta", "tree", "no.py:1").returncode == 1


def test_no_tree_is_shown_of_a_file_that_may_not_be_read(cpl: Cpl) -> None:
    outside = cpl.repo.parent / "outside.py"
    outside.write_text("x = 1\n")
    (cpl.repo / "link.py").symlink_to(outside)
    (cpl.repo / ".env").write_text("x = 1\n")
    for place in ("../outside.py:1", "link.py:1", ".env:1", ".git/config:1"):
        answer = cpl.run("delta", "tree", place, "--language", "python")
        assert answer.returncode == 1 and "assignment" not in answer.stdout, place
