"""What the bindings of libclang lack: kinds of cursors by number, and some functions."""

from __future__ import annotations

import ctypes
import re
from typing import Any, Iterable, Iterator, NamedTuple

from clang.cindex import Config, Cursor, CursorKind, SourceLocation, SourceRange, _CXString

# Macros and includes are recorded, and parsing goes on behind a header that is missing.
OPTIONS = 0x01 | 0x200
ERROR = 3
NO_LINKAGE = 1
_WORD = re.compile(r"[A-Za-z_$]\w*")

FUNCTIONS = frozenset(
    kind.value
    for kind in (
        CursorKind.FUNCTION_DECL,
        CursorKind.FUNCTION_TEMPLATE,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
    )
)
FREE_FUNCTIONS = frozenset((CursorKind.FUNCTION_DECL.value, CursorKind.FUNCTION_TEMPLATE.value))
MEMBER_FUNCTIONS = FUNCTIONS - frozenset((CursorKind.FUNCTION_DECL.value,))
TAGS = frozenset(
    kind.value
    for kind in (
        CursorKind.STRUCT_DECL,
        CursorKind.UNION_DECL,
        CursorKind.CLASS_DECL,
        CursorKind.ENUM_DECL,
        CursorKind.CLASS_TEMPLATE,
    )
)
RECORDS = TAGS - frozenset((CursorKind.ENUM_DECL.value,))
TYPES = TAGS | frozenset(
    kind.value
    for kind in (
        CursorKind.TYPEDEF_DECL,
        CursorKind.TYPE_ALIAS_DECL,
        CursorKind.TYPE_ALIAS_TEMPLATE_DECL,
        CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
        CursorKind.TEMPLATE_TYPE_PARAMETER,
        CursorKind.TEMPLATE_TEMPLATE_PARAMETER,
    )
)
VARIABLES = frozenset((CursorKind.VAR_DECL.value, CursorKind.PARM_DECL.value))
DECLARATIONS = (
    FUNCTIONS
    | TYPES
    | VARIABLES
    | frozenset(
        kind.value
        for kind in (
            CursorKind.FIELD_DECL,
            CursorKind.ENUM_CONSTANT_DECL,
            CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
        )
    )
)
MEMBER = CursorKind.MEMBER_REF_EXPR.value
VARIABLE_USE = CursorKind.DECL_REF_EXPR.value
MEMBER_REFERENCES = frozenset((MEMBER, CursorKind.MEMBER_REF.value))
REFERENCES = frozenset(
    kind.value
    for kind in (
        CursorKind.DECL_REF_EXPR,
        CursorKind.MEMBER_REF_EXPR,
        CursorKind.MEMBER_REF,
        CursorKind.TYPE_REF,
        CursorKind.TEMPLATE_REF,
        CursorKind.VARIABLE_REF,
    )
)
BASE = CursorKind.CXX_BASE_SPECIFIER.value
MACRO = CursorKind.MACRO_DEFINITION.value
MACRO_USE = CursorKind.MACRO_INSTANTIATION.value
INCLUDE = CursorKind.INCLUSION_DIRECTIVE.value
UNIT = CursorKind.TRANSLATION_UNIT.value


class _Ranges(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(SourceRange))]


class Library:
    """Functions of libclang that its bindings do not have, or not in all versions."""

    def __init__(self) -> None:
        lib = Config().lib
        numbers = [ctypes.POINTER(ctypes.c_uint)] * 3
        lib.clang_getFileLocation.argtypes = [SourceLocation, ctypes.POINTER(ctypes.c_void_p), *numbers]
        lib.clang_getFileLocation.restype = None
        lib.clang_isInvalidDeclaration.argtypes = [Cursor]
        lib.clang_isInvalidDeclaration.restype = ctypes.c_uint
        lib.clang_getCursorLinkage.argtypes = [Cursor]
        lib.clang_getCursorLinkage.restype = ctypes.c_int
        cursors = ctypes.POINTER(Cursor)
        lib.clang_getOverriddenCursors.argtypes = [Cursor, ctypes.POINTER(cursors), numbers[0]]
        lib.clang_getOverriddenCursors.restype = None
        lib.clang_disposeOverriddenCursors.argtypes = [cursors]
        lib.clang_disposeOverriddenCursors.restype = None
        lib.clang_getAllSkippedRanges.argtypes = [ctypes.c_void_p]
        lib.clang_getAllSkippedRanges.restype = ctypes.POINTER(_Ranges)
        lib.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(_Ranges)]
        lib.clang_disposeSourceRangeList.restype = None
        self.lib = lib

    def file_offset(self, location: Any) -> tuple[int | None, int]:
        """The file and the byte where a location is written: of a macro's argument, that argument."""
        file, line, column, offset = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        self.lib.clang_getFileLocation(
            location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column), ctypes.byref(offset)
        )
        return file.value, offset.value

    def overridden(self, cursor: Any) -> list[Any]:
        """The methods that one takes the place of."""
        pointer, count = ctypes.POINTER(Cursor)(), ctypes.c_uint()
        self.lib.clang_getOverriddenCursors(cursor, ctypes.byref(pointer), ctypes.byref(count))
        cursors = []
        for at in range(count.value):
            other = Cursor.from_buffer_copy(pointer[at])
            other._tu = cursor._tu
            cursors.append(other)
        if count.value:
            self.lib.clang_disposeOverriddenCursors(pointer)
        return cursors

    def skipped_ranges(self, unit: Any) -> Iterator[tuple[Any, Any]]:
        """The ranges that the preprocessor has left out, as pairs of locations."""
        ranges = self.lib.clang_getAllSkippedRanges(unit)
        try:
            for at in range(ranges.contents.count):
                one = ranges.contents.ranges[at]
                one._tu = unit
                yield one.start, one.end
        finally:
            self.lib.clang_disposeSourceRangeList(ranges)


def clang_version() -> str:
    lib = Config().lib
    lib.clang_getClangVersion.restype = _CXString
    match = re.search(r"\d+(?:\.\d+)+", str(lib.clang_getCString(lib.clang_getClangVersion())))
    return match[0] if match else ""


def declared_first(cursor: Any) -> Any:
    """Of a member function, its declaration in the class or the class template."""
    if cursor._kind_id not in MEMBER_FUNCTIONS:
        return cursor
    template = Config().lib.clang_getSpecializedCursorTemplate(cursor)
    return (cursor if template is None else template).canonical


class Basis(NamedTuple):
    """The names that the meaning of a member rests on."""

    variables: frozenset[str]  # in the expression before it
    others: frozenset[str]  # members in that expression, and its types


def basis_of(children: Iterable[Any]) -> Basis:
    """What the meaning of a member rests on, by what stands before it."""
    variables: set[str] = set()
    others: set[str] = set()
    base = next(iter(children), None)
    while base is not None:
        if base.spelling:
            (variables if base._kind_id == VARIABLE_USE else others).add(base.spelling)
        for kind in (base.type, base.type.get_canonical()):
            others.update(_WORD.findall(kind.spelling))
        base = next(iter(base.get_children()), None)
    return Basis(frozenset(variables), frozenset(others))


def outer_names(cursor: Any) -> list[str]:
    """The names that something is declared in, the innermost first."""
    names = []
    parent = cursor.semantic_parent
    while parent is not None and parent._kind_id != UNIT:
        if parent.spelling:
            names.append(parent.spelling)
        parent = parent.semantic_parent
    return names
