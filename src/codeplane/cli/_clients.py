"""How each client is told about CodePlane."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument, StateUnusable
from codeplane.core.suggest import nearest
from codeplane.storage import write_public

Entry = dict[str, Any]


@dataclass(frozen=True)
class Client:
    """One client: the project file that it reads, and the entry that belongs in it."""

    title: str
    file: str
    key: str
    # Where the client runs a server in the project's directory, the root need not be named.
    root_argument: str | None = None

    def entry(self) -> Entry:
        arguments = ["mcp"] + (["--root", self.root_argument] if self.root_argument else [])
        return {"command": _program(), "args": arguments}

    def snippet(self) -> str:
        if self.file.endswith(".toml"):
            return _render_toml(self.entry())
        return json.dumps({self.key: {"codeplane": self._typed(self.entry())}}, indent=2) + "\n"

    def merged(self, existing: str) -> str | None:
        """The file's new text; None when it holds what CodePlane cannot merge without loss."""
        if self.file.endswith(".toml"):
            return _append_toml(existing, self.entry())
        return _merge_json(existing, self.key, self._typed(self.entry()))

    def _typed(self, entry: Entry) -> Entry:
        return {"type": "stdio", **entry} if self.key == "servers" or self.file == ".mcp.json" else entry


CLIENTS: dict[str, Client] = {
    "claude": Client("Claude Code", ".mcp.json", "mcpServers"),
    "cursor": Client("Cursor", ".cursor/mcp.json", "mcpServers", "${workspaceFolder}"),
    "vscode": Client("VS Code", ".vscode/mcp.json", "servers", "${workspaceFolder}"),
    "codex": Client("Codex", ".codex/config.toml", "mcp_servers"),
    "gemini": Client("Gemini", ".gemini/settings.json", "mcpServers"),
}


def client_named(name: str) -> Client:
    client = CLIENTS.get(name.lower())
    if client is None:
        near = nearest(name, CLIENTS, most=1)
        raise InvalidArgument(
            f"There is no client {name!r}" + (f"; did you mean {near[0]!r}?" if near else "."),
            hints=[f"one of {', '.join(CLIENTS)}"],
            clients=sorted(CLIENTS),
        )
    return client


def write_client(client: Client, root: Path) -> str:
    """Writes the client's entry into its project file; returns `written` or `unchanged`."""
    path = root / client.file
    _refuse_links(root, path)
    before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
    after = client.merged(before) if _is_utf8(before) else None
    if after is None:
        raise StateUnusable(
            f"{path} has comments or a codeplane entry that cannot be merged; add this manually:\n"
            + client.snippet(),
            path=str(path),
        )
    if after == before:
        return "unchanged"
    path.parent.mkdir(exist_ok=True)
    write_public(path, after.encode())
    return "written"


def connection_lines(root: Path) -> list[str]:
    """One line a client that adds this repository's server, to be pasted as it is."""
    program, arguments = _program(), ["mcp", "--root", str(root)]
    shell = shlex.join([program, *arguments])
    commands: dict[str, Callable[[Client], str]] = {
        "claude": lambda _: f"claude mcp add codeplane -- {shell}",
        "codex": lambda _: f"codex mcp add codeplane -- {shell}",
    }
    lines = []
    for name, client in CLIENTS.items():
        entry = client._typed({"command": program, "args": arguments})  # noqa: SLF001 - same module
        as_json = json.dumps({client.key: {"codeplane": entry}})
        line = commands[name](client) if name in commands else f"{client.file}: {as_json}"
        lines.append(f"  {client.title:<12} {line}")
    return lines


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _program() -> str:
    """`cpl` when that is this program on the user's path; its absolute path otherwise."""
    own = Path(sys.argv[0]).resolve()
    program = shutil.which("cpl")
    if program and Path(program).resolve() == own:
        return "cpl"
    beside = Path(sys.executable).with_name("cpl")
    return str(beside if beside.exists() else own)


def _merge_json(existing: str, key: str, entry: Entry) -> str | None:
    try:
        tree = decode_json(existing) if existing.strip() else {}
    except ValueError:
        return None
    if not isinstance(tree, dict) or not isinstance(tree.setdefault(key, {}), dict):
        return None
    present = tree[key].get("codeplane", {})
    if not isinstance(present, dict):
        return None
    if present == {**present, **entry} and existing.strip():
        return existing
    tree[key]["codeplane"] = {**present, **entry}
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def _render_toml(entry: Entry) -> str:
    return (
        "[mcp_servers.codeplane]\n"
        f"command = {json.dumps(entry['command'])}\n"
        f"args = {json.dumps(entry['args'])}\n"
        "tool_timeout_sec = 600\n"
    )


def _append_toml(existing: str, entry: Entry) -> str | None:
    section = _render_toml(entry)
    if section in existing:
        return existing
    if "mcp_servers.codeplane" in existing:
        return None
    separator = "" if not existing else ("\n" if existing.endswith("\n") else "\n\n")
    return existing + separator + section


def _refuse_links(root: Path, path: Path) -> None:
    for step in (path, path.parent):
        if step != root and step.is_symlink():
            raise StateUnusable(f"{step} is a link; CodePlane does not write through it.")
