"""A tool is one module and one case: everything else follows from them."""

import sys
from dataclasses import replace
from pathlib import Path

from scripts.docs import pages

from tests.architecture.test_tools import GOOD
from tests.case_files import parse_case
from tests.drive import Cpl
from tests.test_cases import run_case
from tests.toy_tools import toys_found

CASE = """Says what it is told.

-- call toy_made --
{"text": "hello"}
-- result --
text: hello
-- call toy_made --
{"txt": "hello"}
-- error --
invalid_argument: toy_made has no parameter 'txt' (did you mean 'text'?).
hint: toy_made {"text": "hello"}
"""

RUN = """
import sys
from pathlib import Path
from tests.toy_tools import toys_found
from codeplane.cli import main
with toys_found(Path(sys.argv.pop(1))):
    main()
"""


def test_one_module_and_one_case_make_a_tool(cpl: Cpl, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "toy_made.py").write_text(GOOD)
    case = parse_case(CASE)
    with toys_found(folder):
        assert run_case(case, tmp_path / "case").render() == case.render()
        assert "toy_made" in pages()["docs/reference/tools.md"]
    assert "toy_made" not in pages()["docs/reference/tools.md"]
    env = {**cpl.env, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    made = replace(cpl, env=env, program=(sys.executable, "-c", RUN, str(folder)))
    assert made.run("call", "toy_made", '{"text": "hi"}').stdout == "text: hi\n"
    with made.mcp() as client:
        listed = client.open().request("tools/list")["result"]["tools"]
        assert {"describe", "toy_made"} <= {tool["name"] for tool in listed}
        assert client.call("toy_made", {"text": "hi"})["result"] == {"text": "hi"}
