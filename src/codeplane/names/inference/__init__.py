"""What a value is, as far as the code says it: calls, fields, receivers, narrowing."""
