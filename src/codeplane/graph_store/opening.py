"""Chooses the store that the settings name."""

import re
from pathlib import Path
from typing import Final

from codeplane.config.places import user_variables
from codeplane.config.settings import GraphStoreSettings
from codeplane.core.errors import InvalidSetting
from codeplane.graph_store.bolt_store import BoltStore
from codeplane.graph_store.sqlite_store import SqliteStore
from codeplane.graph_store.store import GraphStore
from codeplane.storage.files import read_small

_SCHEMES: Final = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")


def open_store(state_dir: Path, settings: GraphStoreSettings) -> GraphStore:
    """Opens the graph of a checkout: on a Bolt server where the user has set one, else in `graph.db`."""
    if not settings.bolt_url:
        return SqliteStore(state_dir / "graph.db")
    if not settings.bolt_url.startswith(_SCHEMES):
        text = f"graph_store.bolt_url: {settings.bolt_url[:100]} does not begin with {_SCHEMES[0]}."
        raise InvalidSetting(text, setting="graph_store.bolt_url")
    variable = settings.bolt_password_env
    password = user_variables([variable]).get(variable, "") if variable else ""
    if variable and not password:
        text = f"graph_store.bolt_password_env: the variable {variable} is not set."
        raise InvalidSetting(text, setting="graph_store.bolt_password_env")
    return BoltStore(
        settings.bolt_url,
        user=settings.bolt_user,
        password=password,
        database=settings.bolt_database,
        label=f"CodePlane_{_checkout_id(state_dir)}",
    )


def _checkout_id(state_dir: Path) -> str:
    """A short id of this checkout, which its rows on a shared server are told apart by."""
    text = (read_small(state_dir / "uuid", 64) or b"").decode("ascii", "replace")
    return re.sub(r"[^0-9a-f]", "", text)[:12] or "local"
