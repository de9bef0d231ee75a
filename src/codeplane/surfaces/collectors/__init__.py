"""Collectors of configuration keys and tables, one module a source."""
