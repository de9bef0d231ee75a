"""Routes of languages within languages: calls in blocks, whose meaning depends on the calls around them."""
