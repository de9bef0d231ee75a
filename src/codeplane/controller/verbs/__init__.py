"""The verbs of a turn, one module each, named after the verb."""
