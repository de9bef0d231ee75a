import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.redaction import MARK, redact_text, redact_value


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("use ghp_" + "a1B2" * 9 + " here", "a1B2a1B2"),
        ("key AKIA" + "ABCD1234" * 2, "ABCD1234"),
        ("Authorization: Bearer abcdef123456.XYZ", "abcdef123456"),
        ("curl https://me:hunter2@example.org/x", "hunter2"),
        ("password = 'correct horse'", "correct horse"),
        ('{"api_key": "0123456789"}', "0123456789"),
        ("JIRA_TOKEN=abc123def456", "abc123def456"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM", "SflKxwRJSM"),
    ],
)
def test_a_secret_is_replaced(text: str, secret: str) -> None:
    result = redact_text(text)
    assert secret not in result and MARK in result


@pytest.mark.parametrize(
    "text",
    [
        "token = read_token(1)",
        "def login(password: str) -> None:",
        "tokens: 100000",
        "self.token = token2.value",
        "see https://example.org/path",
        "maxTokens: 5",
        "a basic test of bearer tokens",
        "src/secret/keys.py:12-14",
    ],
)
def test_code_without_secrets_stays(text: str) -> None:
    assert redact_text(text) == text


def test_values_are_redacted_wherever_they_are() -> None:
    value = {"a": ["password='abcdef'", 3, None], "password": "plain", "token": "", "n": {"secret": "wxyz"}}
    assert redact_value(value) == {
        "a": [f"password='{MARK}'", 3, None],
        "password": MARK,
        "token": "",
        "n": {"secret": MARK},
    }


@given(st.text(alphabet="abT0:=_-'\"/@. \nbearertokenpassword", max_size=200))
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
