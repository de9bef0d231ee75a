"""The calls of a function that have to follow its parameters."""
