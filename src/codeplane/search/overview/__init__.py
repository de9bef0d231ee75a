"""The map of a repository: its programs, dependencies, documents and tests."""
