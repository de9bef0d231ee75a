"""Sites: calls, decorators, subscripts, raises, classes and loops of a file, as they are written.

A site knows no framework. What a route or a setting is, rules say; a change of a rule reads no file again.
"""

from codeplane.languages.sites.model import Site, SiteKind, Value, ValueKind, pack_sites, unpack_sites
from codeplane.languages.sites.raises import Raise, read_raises
from codeplane.languages.sites.reader import (
    CHOICE,
    DEFAULT_EXPORT,
    FALLBACK,
    SITES_VERSION,
    SPREAD,
    has_sites,
    read_sites,
)

__all__ = [
    "CHOICE",
    "DEFAULT_EXPORT",
    "FALLBACK",
    "SITES_VERSION",
    "SPREAD",
    "Raise",
    "Site",
    "SiteKind",
    "Value",
    "ValueKind",
    "has_sites",
    "pack_sites",
    "read_raises",
    "read_sites",
    "unpack_sites",
]
