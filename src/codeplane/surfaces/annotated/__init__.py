"""Routes that annotations or attributes on classes and their methods declare."""
