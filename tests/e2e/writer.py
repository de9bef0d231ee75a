"""A client that edits three files together, over and over, and says which edits were acknowledged."""

import sys
from itertools import count
from pathlib import Path

import anyio

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.drive import user_env

FILES = ("a.txt", "deep/b.txt", "c.txt")


async def main(root: Path, home: Path) -> None:
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(home))))
    pipeline = Pipeline(session, all_tools())
    for number in count():
        if number % 5 == 4:
            request = Request("undo", {}, "writer")
        else:
            edits = [_edit(root, name) for name in FILES]
            request = Request("write_source", {"edits": edits}, "writer")
        answer = await pipeline.call(request)
        assert not answer.is_error, answer.body
        sys.stdout.write(answer.body["result"]["operation"] + "\n")
        sys.stdout.flush()


def _edit(root: Path, name: str) -> dict[str, str]:
    text = (root / name).read_text()
    return {"path": name, "expected_content": text, "new_content": f"{int(text) + 1}\n"}


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), Path(sys.argv[2]))
