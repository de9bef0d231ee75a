"""Build contexts: which root owns a file, by markers, workspace files and `contexts.yaml`."""
