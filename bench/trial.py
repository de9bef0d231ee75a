"""A trial by fresh eyes: an agent does everyday tasks through one side only, and every call is recorded.

    python -m bench.trial ours  LOG ROOT TASK TOOL '{...}'   a tool of the standard profile
    python -m bench.trial shell LOG ROOT TASK 'COMMAND'      the same agent's shell
    python -m bench.trial list                               the tools of the standard profile
    python -m bench.trial table LOG ...                      what each task has cost

Counted is what an agent pays for: calls, and characters sent and received. The list of tools is counted once
for all tasks. Who runs a trial knows neither the tree nor what the other side has found.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import mcp_types as wire

from bench.measure import ENVELOPE
from codeplane.server.endpoint import listed_tool
from codeplane.server.transport.link import SESSION_META_KEY, join
from codeplane.storage import StateDir
from codeplane.tools import all_tools

_LONGEST: Final = 30_000  # what a shell tool of an agent prints before it is cut


@dataclass(frozen=True)
class Turn:
    """One call of either side."""

    side: str
    task: str
    sent: str
    characters: int
    is_error: bool


@dataclass
class Cost:
    calls: int = 0
    characters: int = 0
    errors: int = 0

    def add(self, turn: Turn) -> None:
        self.calls += 1
        self.characters += turn.characters
        self.errors += turn.is_error


def listing() -> str:
    """The list of tools, as a client of the standard profile gets it."""
    standard = [listed_tool(tool, tool.schema) for tool in all_tools().values() if tool.standard]
    return wire.ListToolsResult(tools=standard).model_dump_json(exclude_none=True, by_alias=True)


def ours(root: Path, session: str, tool: str, arguments: str) -> tuple[str, bool]:
    """What the running server answers at its standard endpoint, to one session for a whole run."""
    result = asyncio.run(_ask(root, session, tool, json.loads(arguments or "{}")))
    return result["content"][0]["text"], bool(result.get("isError"))


async def _ask(root: Path, session: str, tool: str, arguments: object) -> Any:
    link = await join(StateDir.at(root), "standard")
    params = {"name": tool, "arguments": arguments, "_meta": {**ENVELOPE, SESSION_META_KEY: session}}
    try:
        await link.send(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b"\n"
        )
        while line := await link.line():
            answer = json.loads(line)
            if answer.get("id") == 1:
                return answer["result"]
        raise SystemExit("The server ended before it answered.")
    finally:
        link.close()


def shell(root: Path, command: str) -> tuple[str, bool]:
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, errors="replace")
    text = done.stdout + done.stderr
    return text[:_LONGEST], False


def record(log: Path, turn: Turn) -> None:
    with log.open("a") as file:
        file.write(json.dumps(asdict(turn)) + "\n")


def table(logs: list[Path]) -> str:
    """A row for each task: the mean of its runs on each side."""
    costs: dict[str, dict[str, list[Cost]]] = defaultdict(lambda: defaultdict(list))
    for log in logs:
        run: dict[tuple[str, str], Cost] = defaultdict(Cost)
        for line in log.read_text().splitlines():
            turn = Turn(**json.loads(line))
            run[turn.task, turn.side].add(turn)
        for (task, side), cost in run.items():
            costs[task][side].append(cost)
    rows = ["| Task | ours: calls / characters / errors | shell: calls / characters |", "|---|---|---|"]
    sums: dict[str, float] = defaultdict(float)
    for task in sorted(costs):
        cells = []
        for side in ("ours", "shell"):
            runs = costs[task][side] or [Cost()]
            calls, characters, errors = (
                sum(getattr(one, part) for one in runs) / len(runs)
                for part in ("calls", "characters", "errors")
            )
            sums[side] += characters
            cells.append(f"{calls:.1f} / {characters:,.0f}" + (f" / {errors:.1f}" if side == "ours" else ""))
        rows.append(f"| {task} | {cells[0]} | {cells[1]} |")
    tools = len(listing())
    ratio = (sums["ours"] + tools) / sums["shell"] if sums["shell"] else 0
    rows.append(
        f"\nIn sum {sums['ours']:,.0f} + {tools:,} for the list of tools;"
        f" shell {sums['shell']:,.0f}: {ratio:.2f} ×"
    )
    return "\n".join(rows)


def main() -> None:
    kind, *rest = sys.argv[1:]
    if kind == "list":
        print(listing())
        return
    if kind == "table":
        print(table([Path(one) for one in rest]))
        return
    log, root, task, *call = rest
    if kind == "ours":
        tool, arguments = [*call, "{}"][:2]
        sent = json.dumps({"name": tool, "arguments": json.loads(arguments)})
        text, is_error = ours(Path(root), Path(log).stem, tool, arguments)
    else:
        sent = call[0]
        text, is_error = shell(Path(root), sent)
    record(Path(log), Turn(kind, task, sent, len(sent) + len(text), is_error))
    print(text)
    sys.exit(os.EX_OK)


if __name__ == "__main__":
    main()
