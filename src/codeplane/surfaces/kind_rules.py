"""Rules for surfaces other than endpoints, as data: one file a language or framework."""

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from codeplane.surfaces.rule import RULES, Names, parse_rule

CONFIG_RULES: Final = RULES / "config"
TABLE_RULES: Final = RULES / "tables"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReaderRule(_Part):
    """A way to read or define a configuration key: a call, a decorator or a subscript by its full name."""

    call: Names = Field(description="Full names; `X[]` is a subscript of X, `X().f` a method of an instance.")
    key: str = Field(default="arg0", description="Where the key is.")
    default: str = Field(default="", description="Where the default is.")
    pattern: str = Field(default="", description="What to call the usage; else the full name.")
    role: Literal["read", "definition"] = "read"
    form: Literal["plain", "placeholder", "path", "member", "keys", "keywords"] = Field(
        default="plain",
        description="`placeholder` is `${key:default}`, `path` all texts joined by dots, `member` the name, "
        "`keys` those of a mapping, `keywords` the names of all arguments.",
    )
    required: bool = Field(default=False, description="Whether a key that is not there ends the program.")
    writes: bool = Field(default=False, description="Whether a value that is set by a subscript defines it.")
    section: Names = Field(default=(), description="Methods up the chain whose text goes before the key.")
    block: str = Field(default="", description="A method whose `with` puts its text before the keys inside.")


class ConfigRule(_Part):
    """Everything about the configuration keys of one language or library."""

    framework: str = Field(default="environment", description="Language or library.")
    languages: Names
    words: Names = Field(description="A file counts where it has one of these words.")
    readers: tuple[ReaderRule, ...] = ()


@cache
def config_rules() -> tuple[ConfigRule, ...]:
    """The rules for configuration keys that come with CodePlane."""
    return tuple(
        parse_rule(ConfigRule, path.read_text(), path.name) for path in sorted(CONFIG_RULES.glob("*.yaml"))
    )


def readers_by_name(rules: tuple[ConfigRule, ...], language: str) -> Mapping[str, ReaderRule]:
    """The readers of a language by their full names."""
    return {
        name: reader
        for rule in rules
        if language in rule.languages
        for reader in rule.readers
        for name in reader.call
    }


class ModelRule(_Part):
    """Classes that are tables because of their base class."""

    bases: Names = Field(description="Full names of base classes; `X()` is what a call of X gives.")
    name: Names = Field(default=(), description="Attributes that name the table; `Meta.x` is one of Meta.")
    default: Literal["", "class", "lower", "snake", "plural", "django"] = Field(
        default="", description="How the table is called where no attribute says it; none without."
    )
    keyword: str = Field(default="", description="Keyword of the class that makes it a table.")
    key_field: str = Field(default="", description="Text in the class that a default name needs.")


class MarkerRule(_Part):
    """Classes that are tables because of a decorator, attribute or annotation."""

    marker: Names = Field(description="Full names, or names where the file imports a package whole.")
    name_marker: Names = Field(default=(), description="Markers that have the name instead.")
    name: str = "arg0"
    schema_name: str = ""
    default: Literal["", "class", "snake"] = ""


class TableCallRule(_Part):
    """Calls that define a table."""

    call: Names
    name: str = "arg0"
    schema_name: str = ""
    pattern: str = ""


class TableRule(_Part):
    """Everything about the tables of one framework."""

    framework: str
    languages: Names
    words: Names
    packages: Names = Field(default=(), description="Packages that a file imports whole to get markers.")
    migrations: Names = Field(default=(), description="Full names that only migrations import.")
    models: tuple[ModelRule, ...] = ()
    markers: tuple[MarkerRule, ...] = ()
    calls: tuple[TableCallRule, ...] = ()


@cache
def table_rules() -> tuple[TableRule, ...]:
    """The rules for tables that come with CodePlane."""
    return tuple(
        parse_rule(TableRule, path.read_text(), path.name) for path in sorted(TABLE_RULES.glob("*.yaml"))
    )
