"""OpenSSH's own server on loopback, for whoever runs the tests, and an agent that has their key."""

import getpass
import os
import pwd
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import unavailable

_PACKAGES = ("openssh-server", "libwrap0")
_SEC = 60


@dataclass(frozen=True)
class Ssh:
    """Where it listens, what a client needs to reach it, and the keys that it is known by."""

    url: str
    socket: str
    known: str


@contextmanager
def ssh_server(base: Path) -> Iterator[Ssh]:
    """Serves until the block ends; skips the test where there is no such server to be had."""
    base.mkdir()
    program, libraries = _program(base)
    for name in ("host", "user"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(base / name))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (base / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {base}/host\nAuthorizedKeysFile {base}/user.pub\n"
        "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        "KbdInteractiveAuthentication no\nPermitRootLogin yes\n"
    )
    arguments = [program, "-f", str(base / "config"), "-D", "-e"]
    env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": libraries}
    with (base / "log").open("wb") as log, _agent(base) as agent:
        process = subprocess.Popen(_privileged(base, arguments), env=env, stderr=log, start_new_session=True)
        try:
            _await(process, port, base / "log")
            key = (base / "host.pub").read_text().split()
            known = f"[127.0.0.1]:{port} {key[0]} {key[1]}\n"
            yield Ssh(f"ssh://{getpass.getuser()}@127.0.0.1:{port}", agent, known)
        finally:
            os.killpg(process.pid, 15)
            process.wait()


def _program(base: Path) -> tuple[str, str]:
    """The server and where its libraries are: the machine's own, or that of Debian's packages."""
    found = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if found is not None:
        return found, ""
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        unavailable("there is no sshd here")
    try:
        _run("apt-get", "download", *_PACKAGES, cwd=base)
    except (subprocess.SubprocessError, OSError):
        unavailable("there is no sshd here, and openssh-server cannot be downloaded")
    for package in base.glob("*.deb"):
        _run("dpkg", "-x", str(package), str(base / "server"))
    libraries = {str(one.parent) for one in (base / "server").rglob("lib*.so*")}
    return str(base / "server/usr/sbin/sshd"), ":".join(sorted(libraries))


def _privileged(base: Path, arguments: list[str]) -> list[str]:
    """As root it insists on a user and a directory of its own; it sees them, and nobody else does."""
    if os.getuid() != 0 or any(one.pw_name == "sshd" for one in pwd.getpwall()):
        return arguments
    users = base / "passwd"
    users.write_text(f"{Path('/etc/passwd').read_text()}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("sshd does not run as root without a user of its own")
    script = f'mount --bind {users} /etc/passwd && mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, "sh", *arguments]


@contextmanager
def _agent(base: Path) -> Iterator[str]:
    place = str(base / "agent")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if os.path.exists(place):
                break
            threading.Event().wait(0.01)
        _run("ssh-add", "-q", str(base / "user"), env={**os.environ, "SSH_AUTH_SOCK": place})
        yield place
    finally:
        process.terminate()
        process.wait()


def _await(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(1000):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            threading.Event().wait(0.01)
        else:
            return
    raise AssertionError("sshd does not listen")


def _run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(arguments, cwd=cwd, env=env, check=True, capture_output=True, timeout=_SEC)
