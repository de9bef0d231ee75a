"""What a plan is checked for: one file for each concern."""
