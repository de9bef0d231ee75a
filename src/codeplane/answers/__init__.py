"""Answers as people and agents read them: plain text, nothing that its reader cannot use."""

from codeplane.answers.text import error_text, note_lines, plain_text

__all__ = ["error_text", "note_lines", "plain_text"]
