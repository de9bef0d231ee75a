"""Protocol conformance: the official suites and the Inspector against a running server."""
