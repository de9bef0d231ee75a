"""How a parameter names a symbol."""

from typing import Annotated

from pydantic import Field

from codeplane.tools._registry import synonyms

SymbolName = Annotated[
    str,
    synonyms("symbol_id", "name", "query"),
    Field(description="Qualified name or its end (`Model.save`), `path:line`, or `sym_…`."),
]
