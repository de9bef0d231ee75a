"""Operations: what changes the repository or runs its code, on record and recoverable."""
