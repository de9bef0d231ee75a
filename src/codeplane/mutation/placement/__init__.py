"""From what an agent sends to exact edits: which lines are meant."""
