"""Memory of a server that has answered a call and now waits."""

import subprocess
import sys
import time

import psutil

from bench.measure import Figure, ask, scratch


def figures() -> list[Figure]:
    return [
        Figure("idle memory, cpl up", _up(), "MB", 100, "resident, after one call"),
        Figure("idle memory, cpl mcp", _mcp(), "MB", 100, "resident, after one call"),
    ]


def _up() -> float:
    with scratch() as (repo, env):
        with subprocess.Popen(
            [sys.executable, "-m", "codeplane", "up", "--json", "--set", "logging.level=error"],
            cwd=repo,
            env=env,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            call = [sys.executable, "-m", "codeplane", "call", "describe"]
            subprocess.run(call, cwd=repo, env=env, check=True, capture_output=True)
            size = _resident(process)
            process.terminate()
            return size


def _mcp() -> float:
    with scratch() as (repo, env):
        with subprocess.Popen(
            [sys.executable, "-m", "codeplane", "mcp"],
            cwd=repo,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            ask(process, "tools/call", {"name": "describe", "arguments": {}}, 1)
            size = _resident(process)
            process.terminate()
            return size


def _resident(process: "subprocess.Popen[bytes]") -> float:
    time.sleep(1)
    return psutil.Process(process.pid).memory_info().rss / 1_000_000
