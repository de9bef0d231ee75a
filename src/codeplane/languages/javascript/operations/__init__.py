"""Operations on files of JavaScript and TypeScript."""
