"""Read-only access to Jira and API descriptions, on hosts that the user allows."""
