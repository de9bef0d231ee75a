import re
import subprocess
import sys
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
