"""What a move takes along, and what it leaves behind."""
