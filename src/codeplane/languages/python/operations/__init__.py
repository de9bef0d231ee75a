"""Operations on Python files."""
