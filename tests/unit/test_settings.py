import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.config import Settings, Source, load_settings
from codeplane.config.layers import (
    assignment_source,
    env_source,
    file_source,
    repository_source,
    setting_keys,
)
from codeplane.config.places import Places
from codeplane.core.errors import ConfigError, InvalidSetting, UnknownSetting, UnreadableConfig


def yaml(path: Path, text: str) -> Source:
    path.write_text(text)
    return file_source(path)


def test_the_stronger_layer_wins_setting_by_setting(tmp_path: Path) -> None:
    settings = load_settings(
        [
            assignment_source(["server.port=1111"]),
            env_source({"CODEPLANE__SERVER__PORT": "2222", "CODEPLANE__LOGGING__LEVEL": "DEBUG"}),
            yaml(tmp_path / "repo.yaml", "server: {workers: 3, call_timeout_sec: 9}\nlogging: {level: warn}"),
            yaml(tmp_path / "user.yaml", "server: {workers: 5, port: 4444}"),
        ]
    )
    server = settings.server
    assert (server.port, server.workers, server.call_timeout_sec) == (1111, 3, 9)
    assert settings.logging.level == "debug"


def test_a_missing_or_empty_file_is_an_empty_layer(tmp_path: Path) -> None:
    assert load_settings([file_source(tmp_path / "none.yaml")]) == Settings()
    assert load_settings([yaml(tmp_path / "empty.yaml", "")]) == Settings()


def test_log_outputs_are_read_as_a_list(tmp_path: Path) -> None:
    text = """
    logging:
      level: DEBUG
      outputs:
        - {format: console, destination: stderr, level: INFO}
        - {format: json, destination: /var/log/codeplane.jsonl}
    """
    outputs = load_settings([yaml(tmp_path / "c.yaml", text)]).logging.outputs
    assert [(o.format, o.destination, o.level) for o in outputs] == [
        ("console", "stderr", "info"),
        ("json", "/var/log/codeplane.jsonl", None),
    ]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("loging: {level: debug}", UnknownSetting, "there is no setting loging; did you mean logging.level?"),
        ("server: {prot: 1}", UnknownSetting, "no setting server.prot; did you mean server.port?"),
        ("server: {port: 99999}", InvalidSetting, "server.port is 99999"),
        ("logging: {level: debgu}", InvalidSetting, "logging.level is 'debgu'"),
        ("logging: {level: debgu}", InvalidSetting, "did you mean debug?"),
        ("logging: {outputs: [{destination: log.txt}]}", InvalidSetting, "logging.outputs.0.destination"),
        ("tests: {custom: [{pattern: a, cmd: [a]}]}", InvalidSetting, "tests.custom.0.runner is missing."),
        ("server: {1: 2}", UnknownSetting, "there is no setting server.1"),
        ("1: {port: 2}", UnknownSetting, "there is no setting 1"),
        ("logging: {outputs: [{1: 2}]}", InvalidSetting, "logging.outputs.0.1"),
        ("[1, 2]", UnreadableConfig, "not a mapping"),
        ("a: [", UnreadableConfig, "line 1, column 5"),
        ("server: {port: 2001-99-99}", UnreadableConfig, "a value cannot be read"),
        ('server: {port: !!int "abc"}', UnreadableConfig, "a value cannot be read"),
        ("server: {? [1] : 2}", UnreadableConfig, "unhashable"),
        ("server: &s {port: 1}\nlogging: *s", UnreadableConfig, "aliases (*name) are not allowed (line 2"),
        ("server: {port: 1, workers: 2, port: 3}", UnreadableConfig, "the key port is duplicated"),
        ("server: {}\nserver: {}", UnreadableConfig, "the key server is duplicated (line 2"),
        ("[" * 5000, UnreadableConfig, "nested too deeply"),
    ],
)
def test_a_wrong_setting_names_file_key_and_the_right_one(
    tmp_path: Path, text: str, error: type[ConfigError], message: str
) -> None:
    with pytest.raises(error) as caught:
        load_settings([yaml(tmp_path / "c.yaml", text)])
    assert message in caught.value.message
    assert str(tmp_path / "c.yaml") in caught.value.message


@pytest.mark.parametrize(
    "text", ["connectors: {hosts: [evil.example]}", "graph_store: {bolt_url: bolt://evil}"]
)
def test_a_repository_can_not_give_what_only_the_user_may_decide(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InvalidSetting, match="can't be set by a repository"):
        load_settings([repository_source(tmp_path / "config.yaml")])
    assert load_settings([file_source(tmp_path / "config.yaml")]) != Settings()


def test_a_wrong_assignment_shows_the_form() -> None:
    with pytest.raises(InvalidSetting, match="key=value"):
        assignment_source(["server.port"])
    with pytest.raises(UnknownSetting, match=r"--set server\.porrt=1: there is no setting server\.porrt"):
        load_settings([assignment_source(["server.porrt=1"])])


def test_an_error_of_the_environment_names_the_variable() -> None:
    overrides = {"CODEPLANE__SERVER__WORKERS": "2", "CODEPLANE__SERVER__PORT": "x"}
    with pytest.raises(InvalidSetting, match=r"^CODEPLANE__SERVER__PORT: server\.port is 'x'"):
        load_settings([env_source(overrides)])
    with pytest.raises(InvalidSetting, match=r"^CODEPLANE__SERVER__PORT: "):
        env_source({"CODEPLANE__SERVER__PORT": "["})
    with pytest.raises(InvalidSetting, match=r"^CODEPLANE__LOGGING__OUTPUTS: logging\.outputs\.0\.level"):
        load_settings([env_source({"CODEPLANE__LOGGING__OUTPUTS": "[{level: loud}]"})])


@pytest.mark.parametrize(
    "value", ["x" * 100_000, "[" + "1, " * 10_000 + "]", "0x" + "f" * 9000, "!" + "x" * 9000]
)
def test_an_error_stays_short_however_long_the_value(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings([assignment_source([f"server.port={value}"])])
    assert "server.port" in caught.value.message and len(caught.value.message) < 500


def test_a_settings_file_is_a_regular_file_of_limited_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "large").write_bytes(b" " * 1_048_577)
    for name in ("pipe", "zero", "large"):
        with pytest.raises(UnreadableConfig, match=r"regular file|larger than"):
            file_source(tmp_path / name)
    (tmp_path / "target").write_text("server: {port: 7}")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert load_settings([file_source(tmp_path / "link")]).server.port == 7


def test_unreadable_bytes_are_an_error_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableConfig):
        file_source(tmp_path / "c.yaml")


@given(st.sampled_from(sorted(setting_keys())), st.text(max_size=20))
def test_any_text_for_any_setting_is_taken_or_refused_by_name(key: str, value: str) -> None:
    try:
        load_settings([env_source({"CODEPLANE__" + key.upper().replace(".", "__"): value})])
    except ConfigError as error:
        assert key.split(".")[0] in error.message.lower()


def test_user_places_follow_the_environment() -> None:
    places = Places.of_user({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"})
    assert (places.config_file, places.trust_file) == (
        Path("/c/codeplane/config.yaml"),
        Path("/h/.local/state/codeplane/trust.json"),
    )


def test_sockets_go_where_their_names_fit(tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    short = Places.of_user({"XDG_RUNTIME_DIR": "/tmp", "TMPDIR": str(long)})
    fallback = Places.of_user({"XDG_RUNTIME_DIR": str(long), "TMPDIR": str(long)})
    missing = Places.of_user({"XDG_RUNTIME_DIR": "/does/not/exist"})
    assert short.runtime_dir == Path("/tmp/codeplane")
    assert fallback.runtime_dir == missing.runtime_dir == Path(f"/tmp/codeplane-{os.getuid()}")


def test_sockets_do_not_go_where_the_user_may_not_write(monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anywhere, so the refusal is played.
    monkeypatch.setattr(os, "access", lambda path, mode: path != "/usr" or not mode & os.W_OK)
    places = Places.of_user({"XDG_RUNTIME_DIR": "/usr", "TMPDIR": "/tmp"})
    assert places.runtime_dir == Path(f"/tmp/codeplane-{os.getuid()}")
