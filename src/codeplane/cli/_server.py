"""Asking the running server over HTTP, as any operator's program would."""

import http.client
import os
from dataclasses import dataclass
from typing import Any

from codeplane.core.documents import decode_json
from codeplane.core.errors import NotServing
from codeplane.storage import StateDir

_ANSWER_SEC = 5
_LARGEST_ANSWER = 4_194_304


@dataclass(frozen=True)
class Holder:
    """The process that holds the repository; one that has not published a server has no known id."""

    pid: int | None

    def __str__(self) -> str:
        if self.pid is None:
            return "another process holds the lock and has not started a server"
        return f"pid {self.pid} holds the lock but does not answer"


def ask_server(state: StateDir, path: str) -> dict[str, Any]:
    """GET `path`; `NotServing` when nothing answers or another repository's server does."""
    serving = state.serving()
    if serving is None or not state.lock().is_taken():
        raise NotServing(f"No server is running for {state.path.parent}.", hints=["cpl up"])
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=_ANSWER_SEC)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {state.token()}"})
        response = connection.getresponse()
        body = response.read(_LARGEST_ANSWER)
        if response.status != 200:
            raise NotServing(f"The server at {serving.url} refused: {response.status}.")
        answer: object = decode_json(body)
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise NotServing(f"Nothing answers at {serving.url}.") from error
    finally:
        connection.close()
    if not isinstance(answer, dict) or answer.get("repo_root") != str(state.path.parent):
        raise NotServing(f"The server at {serving.url} belongs to another repository.")
    return answer


def silent_holder(state: StateDir) -> Holder | None:
    """Who holds the repository although nothing answered; None when nobody does."""
    if not state.exists or not state.lock().is_taken():
        return None
    serving = state.serving()
    return Holder(serving.pid if serving is not None and _is_alive(serving.pid) else None)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
