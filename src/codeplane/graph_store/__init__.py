"""A graph of nodes and edges with properties, in SQLite or on a Bolt server."""
