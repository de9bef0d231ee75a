"""How the files differ from git's index and from commits."""
