"""Operations: small typed edits of one file, by its syntax tree.

An operation of a language is a module of `languages/<language>/operations/`; `registry` reads the folders.
"""

from codeplane.languages.operations.operation import (
    Argument,
    Arguments,
    Match,
    Operation,
    OperationRefused,
    Outcome,
    operation,
)
from codeplane.languages.operations.registry import operations_of
from codeplane.languages.operations.source import Source

__all__ = [
    "Argument",
    "Arguments",
    "Match",
    "Operation",
    "OperationRefused",
    "Outcome",
    "Source",
    "operation",
    "operations_of",
]
