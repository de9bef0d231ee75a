"""From the start of `cpl mcp` to its first list of tools, against `python -c "import mcp"`."""

import subprocess
import sys
from pathlib import Path

from bench.measure import Figure, ask, median, scratch, timed

RUNS = 7


def figures() -> list[Figure]:
    with scratch() as (repo, env):
        floor = median(lambda: timed(lambda: subprocess.run([sys.executable, "-c", "import mcp"])), RUNS)
        first = median(lambda: timed(lambda: _list_tools(repo, env)), RUNS)
        with subprocess.Popen(
            [sys.executable, "-m", "codeplane", "up", "--json", "--set", "logging.level=error"],
            cwd=repo,
            env=env,
            stdout=subprocess.PIPE,
        ) as up:
            assert up.stdout is not None
            up.stdout.readline()
            joined = median(lambda: timed(lambda: _list_tools(repo, env)), RUNS)
            up.terminate()
    told = f"{first:.2f} s; import mcp {floor:.2f} s"
    return [
        Figure("cpl mcp to tools/list", first / floor, "×", 1.6, told),
        Figure("the same, joining a server", joined / floor, "×", None, f"{joined:.2f} s"),
    ]


def _list_tools(repo: Path, env: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "codeplane", "mcp"],
        cwd=repo,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert ask(process, "tools/list", {}, 1)["result"]["tools"]
        # The clock stops at the answer; ending is not part of the figure.
        process.kill()
