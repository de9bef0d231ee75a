"""Read-only access to Jira and API descriptions, on hosts that the user allows."""

from codeplane.connectors.api_spec import ApiOperation, ApiSpec
from codeplane.connectors.connectors import Connectors
from codeplane.connectors.jira import Ticket
from codeplane.connectors.timing import Clock

__all__ = ["ApiOperation", "ApiSpec", "Clock", "Connectors", "Ticket"]
