"""The only reader of the process environment: the user's directories and the overrides in it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENV_PREFIX = "CODEPLANE__"

# Socket addresses hold 104 bytes on macOS, 108 on Linux; the file name takes 22 of them.
_LONGEST_DIR = 80

# What a program that CodePlane starts gets to see of the user's environment.
_PASSED_ON = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP SSH_AUTH_SOCK SSH_AGENT_PID GNUPGHOME "
    "XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME "
    "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM "
    "JAVA_HOME GOPATH GOROOT GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME DOTNET_ROOT GEM_HOME GEM_PATH "
    "MIX_HOME HEX_HOME PYENV_ROOT NVM_DIR "
    "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR".split()
)


@dataclass(frozen=True)
class Places:
    """Where this user's configuration, state and sockets live."""

    config_dir: Path
    state_dir: Path
    runtime_dir: Path
    overrides: Mapping[str, str]
    program_env: Mapping[str, str] = field(default_factory=dict)  # of the programs that CodePlane starts

    @classmethod
    def of_user(cls, env: Mapping[str, str] | None = None) -> "Places":
        env = os.environ if env is None else env
        home = Path(env.get("HOME") or Path.home())
        return cls(
            config_dir=_xdg_directory(env, "XDG_CONFIG_HOME", home / ".config") / "codeplane",
            state_dir=_xdg_directory(env, "XDG_STATE_HOME", home / ".local" / "state") / "codeplane",
            runtime_dir=_runtime_dir(env),
            overrides={k: v for k, v in env.items() if k.startswith(ENV_PREFIX)},
            program_env={k: v for k, v in env.items() if k in _PASSED_ON or k.startswith("LC_")},
        )

    @property
    def config_file(self) -> Path:
        return self.config_dir / "config.yaml"

    @property
    def scratch(self) -> Path:
        """For copies of working trees that are there for a moment."""
        return self.state_dir / "scratch"

    @property
    def trust_file(self) -> Path:
        return self.state_dir / "trust.json"


def user_variables(names: Iterable[str]) -> dict[str, str]:
    """Variables of the user's environment, by name: those that the user allows a validator to see."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _runtime_dir(env: Mapping[str, str]) -> Path:
    """The first place that can be used and is short enough for the name of a socket."""
    own = f"codeplane-{os.getuid()}"
    places = [(env.get("XDG_RUNTIME_DIR", ""), "codeplane"), (env.get("TMPDIR", ""), own)]
    for base, name in places:
        if (
            base.startswith("/")
            and len(os.fsencode(base)) + len(name) <= _LONGEST_DIR
            and Path(base).is_dir()
            and os.access(base, os.W_OK | os.X_OK)
        ):
            return Path(base) / name
    return Path("/tmp") / own  # noqa: S108 - `private_dir` refuses it when it is someone else's


def _xdg_directory(env: Mapping[str, str], variable: str, default: Path) -> Path:
    value = env.get(variable, "")
    return Path(value) if value.startswith("/") else default
