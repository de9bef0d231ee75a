"""Making commits: identity, message, signature, and the commit itself."""
