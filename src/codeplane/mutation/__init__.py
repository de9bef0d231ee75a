"""The only writer of file content."""
