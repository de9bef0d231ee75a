"""Hints from the kernel that files have changed."""
