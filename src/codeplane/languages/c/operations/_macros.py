"""What macros make of names: their text, and names that they paste together or turn into texts."""

import re
from typing import Final

from codeplane.languages.c.operations._directives import Preprocessed
from codeplane.languages.c.operations._guards import lines_of
from codeplane.languages.c.operations._tokens import Macro, macros_in, mentions, names_in
from codeplane.languages.operations import OperationRefused, Source

_PASTE: Final = re.compile(r"(\w+)\s*##\s*(?=(\w+))|##\s*(\w+)")
_STRINGISE: Final = re.compile(r"(?<!#)#\s*(\w+)")
_CONDITIONS: Final = ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "undef")


def refuse_macros(source: Source, lines: Preprocessed, old: str, new: str) -> None:
    """Refuses a name that the preprocessor may mean, make or take."""
    macros = macros_in(lines)
    for name in (old, new):
        own = [one.directive.start for one in macros if one.name == name]
        if own:
            raise OperationRefused(f"`{name}` is a macro, at {lines_of(source, own)}.")
        bodies = [
            one.directive.start for one in macros if name not in one.parameters and mentions(one.body, name)
        ]
        if bodies:
            raise OperationRefused(
                f"A macro names `{name}`, at {lines_of(source, bodies)}; change that first."
            )
        places = [
            one.start for one in lines.directives if one.name in _CONDITIONS and mentions(one.argument, name)
        ]
        if places:
            raise OperationRefused(f"The preprocessor asks for `{name}`, at {lines_of(source, places)}.")
    for macro in macros:
        _refuse_pasting(source, macro, old)
        _refuse_texts(source, macro, old)


def _refuse_pasting(source: Source, macro: Macro, old: str) -> None:
    if "##" not in macro.body:
        return
    pieces = {piece for match in _PASTE.finditer(macro.body) for piece in match.groups() if piece}
    fixed = [one for one in pieces - macro.parameters if old.startswith(one) or old.endswith(one)]
    line = source.line_of(macro.directive.start)
    if fixed:
        raise OperationRefused(f"The macro `{macro.name}` at line {line} may paste `{old}` together.")
    for arguments in _argument_names(source, macro):
        if any(old == one or old.startswith(one) or old.endswith(one) for one in arguments):
            raise OperationRefused(f"The macro `{macro.name}` at line {line} may paste `{old}` together.")


def _refuse_texts(source: Source, macro: Macro, old: str) -> None:
    texts = {match[1] for match in _STRINGISE.finditer(macro.body)} & macro.parameters
    if not texts:
        return
    for arguments in _argument_names(source, macro):
        if old in arguments:
            line = source.line_of(macro.directive.start)
            raise OperationRefused(f"The macro `{macro.name}` at line {line} makes a text of `{old}`.")


def _argument_names(source: Source, macro: Macro) -> list[set[str]]:
    """The names that each use of a macro passes."""
    uses = []
    for node in names_in(source, source.root, macro.name):
        end = source.data.find(b")", node.end_byte)
        if source.data[node.end_byte : node.end_byte + 1] == b"(" and end > 0:
            uses.append(set(re.findall(r"[^\W\d]\w*", source.slice(node.end_byte, end))))
    return uses
