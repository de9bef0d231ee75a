"""The ways to the server: HTTP behind the guard, the relay socket, stdio."""
