"""`make bench` where something that it compares with cannot be had."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from bench import __main__ as bench
from bench import search
from bench.measure import Figure

from tests.conformance import node


def test_a_peer_that_cannot_be_had_is_said_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking, fine = ModuleType("bench.lacking"), ModuleType("bench.fine")

    def unavailable() -> list[Figure]:
        raise node.Unavailable("no rg for this machine")

    lacking.figures = unavailable  # type: ignore[attr-defined]
    fine.figures = lambda: [Figure("a figure", 1, "×", 2, "")]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bench.lacking", lacking)
    monkeypatch.setitem(sys.modules, "bench.fine", fine)
    monkeypatch.setattr(sys, "argv", ["bench", "lacking", "fine"])
    with pytest.raises(SystemExit) as ended:
        bench.main()
    printed = capsys.readouterr().out
    assert ended.value.code == 0
    assert "left out: no rg for this machine" in printed and "a figure" in printed


def test_ripgrep_is_found_in_the_package_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "node_modules" / "@vscode" / "ripgrep"
    package.mkdir(parents=True)
    monkeypatch.delenv("RIPGREP", raising=False)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr(node, "package", lambda *_name, is_native=False: package if is_native else tmp_path)
    with pytest.raises(node.Unavailable, match="rg"):
        search._program()
    program = package.parent / "ripgrep-linux-x64" / "bin" / "rg"
    program.parent.mkdir(parents=True)
    program.touch()
    assert search._program() == str(program)
