"""Features from their entry points down: where a trace begins, the walk, and what it meets on the way."""
