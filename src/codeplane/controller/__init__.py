"""One turn at a time: which verb is allowed when, plans before writes, and what was learnt from friction."""
