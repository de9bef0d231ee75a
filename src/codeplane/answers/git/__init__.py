"""Answers of git tools, in the words of git itself."""
