"""How Kotlin code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class KotlinReflection(ReflectionRules):
    """The reflection of Kotlin."""

    protocol_members = (
        r"toString|equals|hashCode|compareTo|component\d+|copy|invoke|iterator|\w+Value|provideDelegate"
    )
    decorator = r"@\s*(?!interface\b)(?:\w+:)?([\w.]+)"
    transparent_decorators = frozenset(
        "Deprecated Suppress JvmStatic JvmField JvmOverloads Throws Test BeforeTest AfterTest BeforeEach"
        " AfterEach OptIn".split()
    )


RULES: Final = KotlinReflection()
