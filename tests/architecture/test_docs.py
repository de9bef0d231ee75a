import re
import subprocess
import sys
import tomllib
from pathlib import Path

from scripts.docs import pages

ROOT = Path(__file__).parent.parent.parent


def test_the_reference_pages_are_in_step() -> None:
    stale = [path for path, text in pages().items() if (ROOT / path).read_text() != text]
    assert stale == [], "run `make docs`"


def test_a_stale_page_is_seen(tmp_path: Path) -> None:
    subprocess.run(["cp", "-r", ROOT / "docs", ROOT / "scripts", tmp_path], check=True)
    page = tmp_path / "docs" / "reference" / "errors.md"
    page.write_text(page.read_text() + "changed by hand\n")
    done = subprocess.run(
        [sys.executable, "scripts/docs.py", "--check"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "errors.md" in done.stdout + done.stderr and "make docs" in done.stdout + done.stderr


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 150
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / "README.md").read_text()
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_architecture_names_every_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    packages = [p.parent.name for p in (ROOT / "src" / "codeplane").glob("*/__init__.py")]
    assert [name for name in packages if f"`{name}`" not in text] == []


def test_every_dependency_is_explained_and_used() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=]", line)[0] for line in listed}
    names = {name for name in names if not name.startswith("tree-sitter-")}
    rows = re.findall(
        r"^\| ([\w-]+) \|", (ROOT / "docs" / "design" / "dependencies.md").read_text(), re.MULTILINE
    )
    assert names <= set(rows), names - set(rows)
    source = "\n".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    modules = {
        "google-re2": "re2",
        "pydantic-monty-client": "pydantic_monty",
        "pydantic-monty-runtime": "pydantic_monty",  # the program that the client starts
        "pyyaml": "yaml",
    }
    imported = {name: modules.get(name, name.replace("-", "_")) for name in names}
    unused = [
        name
        for name, module in imported.items()
        if not re.search(rf"^\s*(?:import|from) {module}\b", source, re.MULTILINE)
    ]
    assert unused == []
