"""The lanes of retrieval: each module has one function, `find`, from a query and sources to candidates."""
