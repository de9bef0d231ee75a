"""Operations of all languages."""
