"""The commands of `cpl delta`, one module each."""
