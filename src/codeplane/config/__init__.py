"""One `Settings` value, read once at the edge; where the user keeps things; whom the user trusts."""

from codeplane.config.layers import Source, load_settings
from codeplane.config.places import Places
from codeplane.config.settings import LogOutput, Settings
from codeplane.config.trust import Trust, TrustRecord

__all__ = ["LogOutput", "Places", "Settings", "Source", "Trust", "TrustRecord", "load_settings"]
