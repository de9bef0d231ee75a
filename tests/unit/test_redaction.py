import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.redaction import REDACTED, redact_secrets, redact_text, redact_value


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("use ghp_" + "a1B2" * 9 + " here", "a1B2a1B2"),
        ("key AKIA" + "ABCD1234" * 2, "ABCD1234"),
        ("Authorization: Bearer abcdef123456.XYZ", "abcdef123456"),
        ("curl https://me:hunter2@example.org/x", "hunter2"),
        ("git clone https://abcdefghij0123456789@example.org/x", "abcdefghij"),
        ("password = 'correct horse'", "correct horse"),
        ('{"api_key": "0123456789"}', "0123456789"),
        ("JIRA_TOKEN=abc123def456", "abc123def456"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM", "SflKxwRJSM"),
        ("id_eyJ-eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM", "zdWIiOiIx"),
        ("a.b.eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM, and on", "SflKxwRJSM"),
    ],
)
def test_a_secret_is_replaced(text: str, secret: str) -> None:
    result = redact_text(text)
    assert secret not in result and REDACTED in result


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
        "basic authentication, Bearer token in the header",
        "password: string, required",
        "https://host:8080/path@here and ssh://git@host/x",
        "commit 45fe424b0123456789abcdef0123456789abcdef",
        "src/secret/keys.py:12-14",
    ],
)
def test_code_without_secrets_stays(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "://aaaa",
        "://a:bbbb:",
        "://a:@",
        "eyJaaa",
        "-eyJaaa",
        "_eyJ",
        "_eyJ" * 1_000 + ".",
        "eyJaaaaaaaaaa.eyJaaaa_",
        "basic aaa",
        "basic" + " " * 2_000,
        "password=",
        "password=1token=1a",
        "secret='" + "a" * 3_000,
        "sk-",
        "-----BEGIN PRIVATE KEY",
        "-----BEGIN PRIVATE KEY-----\n-----END ",
    ],
)
def test_a_hostile_text_takes_no_longer_than_any_other(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    began = time.process_time()
    redact_text(text)
    assert time.process_time() - began < 0.9


def test_values_are_redacted_wherever_they_are() -> None:
    value = {"a": ["password='abcdef'", 3, None], "password": "plain", "token": "", "n": {"secret": "wxyz"}}
    assert redact_value(value) == {
        "a": [f"password='{REDACTED}'", 3, None],
        "password": REDACTED,
        "token": "",
        "n": {"secret": REDACTED},
    }


def test_secrets_that_are_known_go_wherever_they_stand() -> None:
    assert redact_secrets("x hush y hush", ["hush", ""]) == f"x {REDACTED} y {REDACTED}"


@given(st.text(alphabet="abT0:=_-'\"/@. \nbearertokenpassword", max_size=200))
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
