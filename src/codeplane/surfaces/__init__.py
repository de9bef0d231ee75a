"""What a repository offers and needs: endpoints, configuration keys, tables and their like, by rules."""
