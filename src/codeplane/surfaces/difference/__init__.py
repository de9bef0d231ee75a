"""What has changed between the surfaces of two states."""
