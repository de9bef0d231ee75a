"""A first pass that says each of its steps. Run by `test_index`, and killed."""

import sys
from pathlib import Path

from codeplane.index import Workers
from codeplane.names import Index
from tests.index.conftest import tree_of

if __name__ == "__main__":
    repo, file = map(Path, sys.argv[1:])
    Index.open(file, tree_of(repo), Workers(2)).refresh(lambda *_: print("step", flush=True))
