"""Values without I/O: the error tree, identifiers, spelling suggestions."""
