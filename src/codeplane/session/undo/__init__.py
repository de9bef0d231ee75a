"""Operations taken back as new operations."""
