"""Git's configuration. A value is data; nothing that it names is run."""

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.repo.urls import shown_key


def config_text(handle: pygit2.Repository, name: str) -> str | None:
    """The value of a setting; None when it is not set or has no value."""
    try:
        if name not in handle.config:
            return None
        value: str | None = handle.config[name]
        return value
    except UnicodeDecodeError as error:
        raise GitFailed(f"The git setting {shown_key(name)} is not UTF-8.") from error


def config_flag(handle: pygit2.Repository, name: str, *, default: bool = False) -> bool:
    """The value of a boolean setting."""
    try:
        return bool(handle.config.get_bool(name)) if name in handle.config else default
    except (pygit2.GitError, ValueError) as error:
        raise GitFailed(f"The git setting {shown_key(name)} is not a boolean.") from error
