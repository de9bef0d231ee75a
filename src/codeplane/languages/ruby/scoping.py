"""Where a name is seen in Ruby."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class RubyScopes(ScopeRules):
    """The scopes of Ruby."""

    members_visible = "nested"
    # Methods are called, never read; constants and variables differ by their first letter.
    name_spaces = {"method": "m", "function": "m", "property": "m"}
    lookup_spaces = {"call": ("m",), "write": ("v", "m"), "type": ("v",), "new": ()}
    reopened_kinds = frozenset(("class", "module"))
    closed_names = r"[^A-Z@$].*"
    inherited_before_file = True
    self_keywords = ("self", ".", "")
    implicit_self = True
    rebinds_self = True
    static_members_apart = True


RULES: Final = RubyScopes()
