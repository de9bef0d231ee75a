"""Real servers on loopback: git's own behind HTTP with a password, git's daemon, and bad ones."""

import base64
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.drive import git

USER, PASSWORD = "ada", "s3cret-pass"


class _Backend(BaseHTTPRequestHandler):
    """Runs `git http-backend` as a CGI program for whoever has the password."""

    protocol_version = "HTTP/1.1"
    root: Path
    needs_password = True
    seen: list[str]

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            self._serve(b"".join(self._chunks()))
        else:
            self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *_: object) -> None:
        pass

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().strip(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _serve(self, body: bytes) -> None:
        given = self.headers.get("Authorization", "")
        self.seen.append(given)
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.needs_password and given != wanted:
            self._answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
            return
        path, _, query = self.path.partition("?")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "HOME": str(self.root),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": USER,
            "REMOTE_ADDR": "127.0.0.1",
        }
        if encoding := self.headers.get("Content-Encoding"):
            env["HTTP_CONTENT_ENCODING"] = encoding
        done = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        self._answer(int(headers.pop("Status", "200").split()[0]), headers, content)

    def _answer(self, code: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def http_server(root: Path, *, needs_password: bool = True) -> Iterator[tuple[str, list[str]]]:
    """The address of the bare repositories below `root`, and the Authorization of each request."""
    seen: list[str] = []
    kind = type("Backend", (_Backend,), {"root": root, "needs_password": needs_password, "seen": seen})
    with _serving(kind) as place:
        yield f"http://{place}", seen


@contextmanager
def _serving(kind: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silent_server() -> Iterator[str]:
    """Accepts every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def refused_port() -> str:
    """A place where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def git_daemon(root: Path) -> Iterator[str]:
    """git's own server, for the git protocol; anybody may push."""
    port = int(refused_port().rpartition(":")[2])
    process = subprocess.Popen(
        [
            *("git", "daemon", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1"),
            *(f"--port={port}", f"--base-path={root}", "--reuseaddr", str(root)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _await(port)
        yield f"git://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def _await(port: int) -> None:
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            threading.Event().wait(0.01)
        else:
            return
    raise AssertionError("the daemon does not listen")


def new_bare(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    git(path.parent, "init", "-q", "--bare", str(path))
    git(path, "config", "http.receivepack", "true")
    return path


@contextmanager
def redirecting_server(to: str) -> Iterator[str]:
    """Sends everybody to the same path of another server."""

    class Redirects(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"{to}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with _serving(Redirects) as place:
        yield f"http://{place}"
