"""The transports, the guard and the one pipeline that carries every call."""
