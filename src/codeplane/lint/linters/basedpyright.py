"""basedpyright: pyright with more rules. It also reads what is configured for pyright."""

from collections.abc import Sequence

from codeplane.lint.evidence import mentioned, with_section
from codeplane.lint.linter import Project
from codeplane.lint.linters.pyright import Pyright
from codeplane.names.snapshot_tree import Tree


class _BasedPyright(Pyright):
    name = "basedpyright"
    program = "basedpyright"
    install = "pip install basedpyright (in the project's environment)"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return with_section(tree, "pyproject.toml", "tool", "basedpyright") or mentioned(
            tree, r"\bbasedpyright\b"
        )


LINTER = _BasedPyright()
