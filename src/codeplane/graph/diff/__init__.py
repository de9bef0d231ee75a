"""What has changed between two states, definition by definition, and whom it may break."""
