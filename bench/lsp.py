"""A language server on the other end of two pipes: just enough to ask where a name is defined."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


class Judge(Protocol):
    """Says what names in files are defined as."""

    def open(self, file: Path, language: str) -> None: ...

    def close_file(self, file: Path) -> None: ...

    def definitions(self, file: Path, line: int, column: int) -> list[tuple[str, int, int]]: ...

    def stop(self) -> None: ...


class Server:
    """A language server for one folder."""

    def __init__(
        self, command: Sequence[str], root: Path, settings: dict[str, Any], options: dict[str, Any]
    ) -> None:
        self._settings = settings
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            initializationOptions=options,
            workspaceFolders=[folder],
            capabilities={"workspace": {"configuration": True, "workspaceFolders": True}},
        )
        self.tell("initialized")

    def open(self, file: Path, language: str) -> None:
        document = {"uri": file.as_uri(), "languageId": language, "version": 1, "text": file.read_text()}
        self.tell("textDocument/didOpen", textDocument=document)

    def close_file(self, file: Path) -> None:
        self.tell("textDocument/didClose", textDocument={"uri": file.as_uri()})

    def definitions(self, file: Path, line: int, column: int) -> list[tuple[str, int, int]]:
        """URI, line and column of what the name at a place is defined as; all 0-based."""
        found = self.ask(
            "textDocument/definition",
            textDocument={"uri": file.as_uri()},
            position={"line": line, "character": column},
        )
        places = found if isinstance(found, list) else [found] if found else []
        starts = [
            (p.get("uri") or p["targetUri"], p.get("range") or p["targetSelectionRange"]) for p in places
        ]
        return [(uri, at["start"]["line"], at["start"]["character"]) for uri, at in starts]

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._number:
                return message.get("result")

    def wait_until_logged(self, text: str) -> None:
        """Reads on until the server writes something into its log: what it has done by then."""
        while text not in str(self._next().get("params", {}).get("message", "")):
            pass

    def _next(self) -> dict[str, Any]:
        """The next answer or notification; what the server asks is answered with the settings."""
        while True:
            message = self._receive()
            if "method" not in message or "id" not in message:
                return message
            items = message.get("params", {}).get("items", [])
            asked = [self._settings.get(item.get("section", ""), {}) for item in items]
            self._send({"id": message["id"], "result": asked or None})

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not length:
            raise EOFError("the language server has gone")
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message
