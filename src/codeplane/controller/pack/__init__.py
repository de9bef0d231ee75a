"""Context packs: what a run needs to know before it plans, within a budget of tokens."""
