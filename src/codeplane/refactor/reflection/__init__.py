"""How code reaches definitions without writing their names."""
