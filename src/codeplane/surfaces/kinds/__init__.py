"""Kinds of surfaces other than endpoints, one module each."""
