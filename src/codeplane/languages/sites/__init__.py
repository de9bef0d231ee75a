"""Sites: calls, decorators, subscripts, raises, classes and loops of a file, as they are written.

A site knows no framework. What a route or a setting is, rules say; a change of a rule reads no file again.
"""

from codeplane.languages.sites.model import Site, SiteKind, Value, ValueKind
from codeplane.languages.sites.packed import pack_sites, unpack_sites
from codeplane.languages.sites.raises import Raise, read_raises
from codeplane.languages.sites.reader import DEFAULT_EXPORT, has_sites, read_own_sites, read_sites
from codeplane.languages.sites.values import CHOICE, FALLBACK, SPREAD

__all__ = [
    "CHOICE",
    "DEFAULT_EXPORT",
    "FALLBACK",
    "SPREAD",
    "Raise",
    "Site",
    "SiteKind",
    "Value",
    "ValueKind",
    "has_sites",
    "pack_sites",
    "read_own_sites",
    "read_raises",
    "read_sites",
    "unpack_sites",
]
