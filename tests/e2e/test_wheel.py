"""What users install is the wheel: it must hold everything that it needs."""

import site
import subprocess
import sys
import venv
from pathlib import Path

from tests.drive import Cpl

ROOT = Path(__file__).parent.parent.parent


def test_the_built_wheel_works_by_itself(cpl: Cpl, tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("codeplane-*.whl")
    venv.create(tmp_path / "env", with_pip=True, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", wheel], check=True)
    # The dependencies are those of this environment; CodePlane itself is the wheel's.
    [packages] = (tmp_path / "env").glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    installed = Cpl(cpl.repo, cpl.env, (str(tmp_path / "env" / "bin" / "cpl"),))
    where = subprocess.run(
        [python, "-c", "import codeplane; print(codeplane.__file__)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(packages))
    assert installed.json("call", "describe")["result"]["branch"] == "main"
    with installed.mcp() as client:
        assert client.open().call("describe")["result"]["branch"] == "main"
