"""Finding and reading text: words, names and patterns, ranked; files, spans, and the map of a repository."""
