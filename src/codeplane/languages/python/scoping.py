"""Where a name is seen in Python."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules


class PythonScopes(ScopeRules):
    """The scopes of Python."""

    members_visible = "body"
    ordered_scopes = frozenset((ScopeKind.FILE, ScopeKind.CLASS))
    star_imports_rebind = True
    self_parameters = ("self", "cls")
    super_receivers = ("super()",)
    import_binds = "first"
    namespace_packages = True


RULES: Final = PythonScopes()
