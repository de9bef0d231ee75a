"""The only reader of the process environment: the user's directories and the overrides in it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENV_PREFIX = "CODEPLANE__"


@dataclass(frozen=True)
class Places:
    """Where this user's configuration, state and sockets live."""

    config_dir: Path
    state_dir: Path
    runtime_dir: Path
    overrides: Mapping[str, str]

    @classmethod
    def of_user(cls, env: Mapping[str, str] | None = None) -> "Places":
        env = os.environ if env is None else env
        home = Path(env.get("HOME") or Path.home())
        temp = Path(env.get("TMPDIR") or "/tmp")  # noqa: S108 - made private by `private_dir`
        runtime = env.get("XDG_RUNTIME_DIR")
        return cls(
            config_dir=_xdg(env, "XDG_CONFIG_HOME", home / ".config") / "codeplane",
            state_dir=_xdg(env, "XDG_STATE_HOME", home / ".local" / "state") / "codeplane",
            runtime_dir=Path(runtime) / "codeplane" if runtime else temp / f"codeplane-{os.getuid()}",
            overrides={k: v for k, v in env.items() if k.startswith(ENV_PREFIX)},
        )

    @property
    def config_file(self) -> Path:
        return self.config_dir / "config.yaml"

    @property
    def trust_file(self) -> Path:
        return self.state_dir / "trust.json"


def _xdg(env: Mapping[str, str], variable: str, default: Path) -> Path:
    value = env.get(variable, "")
    return Path(value) if value.startswith("/") else default
