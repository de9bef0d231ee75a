"""The repository on disk: its layout, settings, objects, references, index file and unfinished operations."""
