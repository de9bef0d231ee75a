"""The `.cplignore` that a repository starts with."""

CPLIGNORE = """\
# What CodePlane never indexes, in .gitignore syntax. It applies on top of .gitignore.
# `!pattern` brings back a file that git ignores.
node_modules/
dist/
build/
.venv/
__pycache__/
*.pyc
*.log
coverage/
.pytest_cache/

# Secrets. Bringing one of these back with `!` needs `cpl trust`.
.env
.env.*
*.pem
*.key
id_rsa*
id_ed25519*
"""
