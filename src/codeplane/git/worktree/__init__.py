"""The working tree and git's index: what is in them, and bringing both to another tree."""
