"""What `cpl mcp` does when its server ends, with a server that ends exactly where the test wants it to."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from codeplane.server.remote_call import ENVELOPE
from codeplane.server.transport.link import GREETING
from codeplane.storage import Serving, StateDir
from tests.drive import Cpl, Stdio
from tests.zygote import PATIENCE

# No socket holds a line of this size: who sends it waits for who reads it.
LONG = "x" * 3_000_000


class Connection:
    """One `cpl mcp`, seen by the server that it has joined."""

    def __init__(self, accepted: socket.socket) -> None:
        self._socket = accepted
        self._socket.settimeout(PATIENCE)
        self._lines = accepted.makefile("rb")
        assert GREETING in self.next()
        self.say({GREETING: {"version": "0", "profile": "full"}})

    def next(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._lines.readline())
        return message

    def say(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def begin(self, request_id: object) -> None:
        self.say({"jsonrpc": "2.0", "method": "codeplane/begun", "params": {"id": request_id}})

    def answer(self, request_id: object) -> None:
        self.say({"jsonrpc": "2.0", "id": request_id, "result": {}})

    def await_beginning_of_a_line(self) -> None:
        assert self._lines.peek(1)

    def end(self) -> None:
        self._lines.close()
        self._socket.close()


@contextmanager
def scripted(cpl: Cpl) -> Iterator[Callable[[], Connection]]:
    """Accepts each `cpl mcp` of the repository; nobody else may serve it."""
    cpl.run("init")
    state = StateDir.at(cpl.repo)
    lock = state.lock()
    assert lock.acquire(wait_sec=PATIENCE)
    path = f"{cpl.env['TMPDIR']}/scripted.sock"
    try:
        with socket.socket(socket.AF_UNIX) as listener, ExitStack() as ends:
            listener.bind(path)
            listener.listen()
            listener.settimeout(PATIENCE)
            state.publish(Serving(pid=1, port=1, socket=path, started_ms=0, command="test"))

            def accept() -> Connection:
                connection = Connection(listener.accept()[0])
                ends.callback(connection.end)
                return connection

            yield accept
    finally:
        lock.release()


def call(client: Stdio, name: str = "any", text: str = "") -> int:
    return client.ask("tools/call", {"name": name, "arguments": {"text": text}})


def test_a_request_that_was_being_sent_is_sent_once_to_the_next(cpl: Cpl) -> None:
    with scripted(cpl) as accept, cpl.mcp() as client:
        first = accept()
        asked = [call(client), call(client, text=LONG)]
        assert first.next()["id"] == asked[0]
        first.await_beginning_of_a_line()
        first.end()
        second = accept()
        asked.append(call(client))
        assert [second.next()["id"] for _ in asked] == asked


def test_what_the_server_said_is_heard_although_it_takes_no_more(cpl: Cpl) -> None:
    """It answers one call and begins another while a third is being sent to it, and ends."""
    with scripted(cpl) as accept, cpl.mcp() as client:
        first = accept()
        answered, begun, sent, behind = (call(client, text=text) for text in ("", "", LONG, ""))
        assert [first.next()["id"], first.next()["id"]] == [answered, begun]
        first.await_beginning_of_a_line()
        first.answer(answered)
        first.begin(begun)
        first.end()
        second = accept()
        assert client.answer() == {"jsonrpc": "2.0", "id": answered, "result": {}}
        interrupted = client.answer()
        assert interrupted["id"] == begun
        assert interrupted["result"]["structuredContent"]["error"]["name"] == "CALL_INTERRUPTED"
        assert [second.next()["id"], second.next()["id"]] == [sent, behind]


def test_a_request_that_was_cancelled_goes_to_no_other_server(cpl: Cpl) -> None:
    with scripted(cpl) as accept, cpl.mcp() as client:
        first = accept()
        cancelled, open_still = call(client), call(client)
        client.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}
        )
        assert [first.next().get("id") for _ in range(3)] == [cancelled, open_still, None]
        first.end()
        second = accept()
        assert second.next()["id"] == open_still


def test_a_write_begins_after_its_client_can_know_of_it(toy_cpl: Cpl) -> None:
    """A client does not read: what is said to it stays in the server, and goes down with it."""
    with toy_cpl.up(), toy_cpl.mcp("--profile", "full") as other:
        other.open()
        serving = StateDir.at(toy_cpl.repo).serving()
        assert serving is not None
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.connect(serving.socket)
            tell(deaf, {GREETING: {"state": str(toy_cpl.repo / ".codeplane"), "profile": "full"}})
            asked = 0
            while unread(deaf).count(b"\n") >= asked:
                asked += 1
                tell(deaf, modern_call(asked, "toy_echo", {"text": "", "path": "x" * 8000}))
                other.call("describe")
            tell(deaf, modern_call(0, "toy_write", {"name": "deaf"}))
            assert other.call("toy_write", {"name": "other", "seconds": 0.5})["result"] == {"lines": 2}
            has_started = (toy_cpl.repo / ".codeplane" / "deaf").exists()
            assert not has_started or b"codeplane/begun" in unread(deaf)


def tell(to: socket.socket, message: dict[str, Any]) -> None:
    to.sendall(json.dumps(message).encode() + b"\n")


def modern_call(request_id: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call that needs no handshake before it."""
    params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def unread(of: socket.socket) -> bytes:
    """What would arrive if its sender were killed now."""
    try:
        return of.recv(1 << 24, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return b""
