"""What the next commit will contain."""
