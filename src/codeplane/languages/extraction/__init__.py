"""Bytes in, facts out: what one file says by itself."""
