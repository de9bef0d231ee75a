"""Recipes: named steps with checked parameters and nothing else, one module each."""
