"""One state of the files: their facts, words and purposes, as the rows of the index have them."""
