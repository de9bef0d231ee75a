"""C++ finds what a file includes as C does. What a `using` takes is not looked for: parts of a namespace may
stand in any file.
"""

from collections.abc import Sequence

from codeplane.core.places import Place
from codeplane.languages.c import modules as c
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

module_name, ambient, submodule = c.module_name, c.ambient, c.submodule


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    return c.places(sources, path, imported) if imported.kind == "c_include" else ()
