import base64
import os
from pathlib import Path

import pytest

from codeplane.connectors.credentials import TokenSource, basic_credential, bearer_credential
from codeplane.core.errors import TokenUnusable
from tests.connectors.servers import TOKEN


def environment(names: object) -> dict[str, str]:
    return {"JIRA_PAT": TOKEN, "EMPTY": "", "TWO_WORDS": f"{TOKEN}\r\nX-Evil: 1"}


def token_file(tmp_path: Path, text: str = TOKEN + "\n", mode: int = 0o600) -> Path:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_token_comes_from_a_private_file_or_a_variable(tmp_path: Path) -> None:
    file = TokenSource("connectors.jira", file=str(token_file(tmp_path)))
    variable = TokenSource("connectors.jira", variable="JIRA_PAT")
    for source in (file, variable):
        credential = bearer_credential(source, environment)
        assert credential.header == f"Bearer {TOKEN}"
        assert TOKEN not in repr(credential) + repr(source) + str(credential)


def test_a_cloud_token_is_sent_with_its_account() -> None:
    source = TokenSource("connectors.jira", variable="JIRA_PAT")
    credential = basic_credential(source, "ada@example.com", environment)
    sent = base64.b64encode(f"ada@example.com:{TOKEN}".encode()).decode()
    assert credential.header == f"Basic {sent}"
    assert set(credential.secrets) == {sent, TOKEN}
    with pytest.raises(TokenUnusable, match=r"connectors\.jira\.user"):
        basic_credential(source, "", environment)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = token_file(tmp_path, mode=mode)
    with pytest.raises(TokenUnusable, match="Others can read") as caught:
        TokenSource("connectors.jira", file=str(path)).read_token(environment)
    assert caught.value.hints == (f"chmod 600 {path}",)
    assert TOKEN not in repr(caught.value.to_wire())


def test_links_pipes_and_directories_are_no_token_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(token_file(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("link", "pipe", "directory"):
        with pytest.raises(TokenUnusable, match="not a regular file"):
            TokenSource("connectors.jira", file=str(tmp_path / name)).read_token(environment)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (TokenSource("connectors.jira"), "No token is configured"),
        (TokenSource("connectors.jira", variable="NOT_SET"), "NOT_SET is not set"),
        (TokenSource("connectors.jira", variable="EMPTY"), "not a token"),
        (TokenSource("connectors.jira", variable="TWO_WORDS"), "not a token"),
        (TokenSource("connectors.jira", file="token"), "not absolute"),
        (TokenSource("connectors.jira", file="/nowhere/token"), "does not exist"),
    ],
)
def test_a_token_that_can_not_be_used_says_why_and_never_what(source: TokenSource, reason: str) -> None:
    with pytest.raises(TokenUnusable, match=reason) as caught:
        source.read_token(environment)
    assert caught.value.hints and TOKEN not in repr(caught.value.to_wire())


@pytest.mark.parametrize(
    "text", ["", "short", pytest.param("x" * 9_000, id="long"), "zwei Wörter", "\x00" * 20]
)
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = token_file(tmp_path, text)
    with pytest.raises(TokenUnusable, match="is not a token"):
        TokenSource("connectors.jira", file=str(path)).read_token(environment)
