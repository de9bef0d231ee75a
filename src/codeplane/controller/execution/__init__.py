"""Execution of accepted plans: storage, patches, codemods, validation, side effects, recipes and bundles."""
