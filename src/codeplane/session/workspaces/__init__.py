"""Workspaces of an open repository: made, entered, reset, deleted, and what a call reads and writes there."""
