"""Where a name is seen in TypeScript."""

from typing import Final

from codeplane.languages.javascript.scoping import JavaScriptScopes


class TypeScriptScopes(JavaScriptScopes):
    """The scopes of TypeScript."""

    # Values, types and namespaces are named apart. A namespace is a value too where no other has its name.
    name_spaces = {
        "interface": "t",
        "type": "t",
        "type_param": "t",
        "class": "vt",
        "enum": "vtn",
        "namespace": "n",
        "module": "-",
        "js_import": "vtn",
        "js_require": "vtn",
        "js_dynamic": "vtn",
        "ts_alias": "vtn",
    }
    lookup_spaces = {"type": ("t",), "namespace": ("n",), "export": ("vtn",)}
    unscoped_kinds = frozenset(("enum_member",))
    declared_self = (
        r"\??\s*(?:<[^(){}]*(?:\([^()]*\)[^(){}]*)*>)?\s*"
        r"\(\s*this\s*:\s*(?:(\w+)\s*(?:<[^()&|]*>\s*)?[,)])?"
    )


RULES: Final = TypeScriptScopes()
