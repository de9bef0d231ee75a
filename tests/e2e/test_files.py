"""The reading tools as a client has them: over the pipes of `cpl mcp`."""

from pathlib import Path

from tests.drive import Cpl, new_repo, user_env


def test_source_is_read_by_name_over_mcp(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "repo", {"lib/util.py": "def helper(x):\n    return x\n"})
    with Cpl(repo, user_env(tmp_path / "home")).mcp() as process:
        client = process.open()
        assert client.call("list_files", {"pattern": "*.py"})["result"]["tree"] == {"lib": ["util.py"]}
        [file] = client.call("read_source", {"targets": ["helper"]})["result"]["files"]
        assert file["spans"] == [{"text": "1: def helper(x):\n2:     return x", "symbol": "lib.util.helper"}]
        [found] = client.call("search", {"query": "helper"})["result"]["files"]
        assert found == {"path": "lib/util.py", "hits": ["1: def helper(x)  [function helper]"]}
