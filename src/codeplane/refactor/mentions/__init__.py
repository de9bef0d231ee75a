"""A name in comments, strings and documents."""
