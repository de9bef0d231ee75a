"""Operations on HTML elements, each a module of its own."""
