"""Which files count: git's ignore rules, `.cplignore`, and what CodePlane never reads."""
