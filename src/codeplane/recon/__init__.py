"""Context for a task: lanes that each find candidates, and one ranked result."""
