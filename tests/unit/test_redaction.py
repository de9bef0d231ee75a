import pytest

from codeplane.core.redaction import REDACTED, redact_secrets

_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key AKIAIOSFODNN7EXAMPLE here", f"key {REDACTED} here"),
        ("ghp_" + "a1" * 18, REDACTED),
        ("glpat-" + "x" * 20, REDACTED),
        ("xoxb-1234567890-abc", REDACTED),
        ("ATATT3xFf" + "A" * 40, REDACTED),
        ("a\n" + _KEY + "\nb", f"a\n{REDACTED}\nb"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", REDACTED),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x.c2ln", REDACTED),
        ("Authorization: Bearer abcdefghijklmnop1", f"Authorization: Bearer {REDACTED}"),
        ("https://ada:s3cret@host/x", f"https://ada:{REDACTED}@host/x"),
        ("password = hunter2hunter2", f"password = {REDACTED}"),
        ('"api_key": "abcd1234efgh"', f'"api_key": "{REDACTED}"'),
    ],
)
def test_what_has_the_shape_of_a_secret_is_replaced(text: str, expected: str) -> None:
    assert redact_secrets(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "password: string, required",
        "the secret: be kind",
        "Bearer token in the header",
        "https://host:8080/path@here",
        "commit 45fe424b0123456789abcdef0123456789abcdef",
        "basic authentication",
    ],
)
def test_plain_text_is_left_alone(text: str) -> None:
    assert redact_secrets(text) == text


def test_secrets_that_are_passed_go_wherever_they_stand() -> None:
    assert redact_secrets("x hush y hush", ["hush", ""]) == f"x {REDACTED} y {REDACTED}"


@pytest.mark.parametrize("piece", ["-----BEGIN PRIVATE KEY-----", "eyJ", "://a:", "password=", "Basic a"])
def test_long_text_without_an_end_is_read_through(piece: str) -> None:
    assert redact_secrets(piece * 50_000 + " end").endswith((" end", REDACTED))
