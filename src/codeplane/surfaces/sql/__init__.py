"""Tables that SQL names: in the texts of code and in files."""
