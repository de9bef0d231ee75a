"""Where a name stands, and what it means there."""
