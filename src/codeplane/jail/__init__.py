"""The one gate between paths from outside and files inside the repository."""

from codeplane.jail.jail import Jail
from codeplane.jail.names import is_closed, shown

__all__ = ["Jail", "is_closed", "shown"]
