"""Questions about definitions and what connects them. Every edge says how far it is proven."""
