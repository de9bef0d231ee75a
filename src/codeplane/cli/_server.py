"""Asking the running server over HTTP, as any operator's program would."""

import http.client
import json
from typing import Any

from codeplane.core.errors import NotServing
from codeplane.storage import StateDir

_ANSWER_SEC = 5


def ask_server(state: StateDir, path: str) -> dict[str, Any]:
    """GET `path`; `NotServing` when nothing answers or another repository's server does."""
    serving = state.serving()
    if serving is None:
        raise NotServing(f"No server runs for {state.path.parent}.", hints=["cpl up"])
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=_ANSWER_SEC)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {state.token()}"})
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise NotServing(f"The server at {serving.url} refused: {response.status}.")
        answer: dict[str, Any] = json.loads(body)
        if answer.get("repo_root") != str(state.path.parent):
            raise NotServing(f"The server at {serving.url} is of another repository.")
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise NotServing(f"Nothing answers at {serving.url}; the server has ended.") from error
    finally:
        connection.close()
    return answer
