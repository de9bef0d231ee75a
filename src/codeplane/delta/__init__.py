"""Code deltas: typed edits that are written down, simulated, checked, and then made as a whole."""
