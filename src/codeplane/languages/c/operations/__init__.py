"""Operations on C files."""
