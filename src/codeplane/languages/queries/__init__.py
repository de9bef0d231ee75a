"""Tree-sitter queries: named ones of a language, and foreign ones within limits."""
