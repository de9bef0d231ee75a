"""Rules for commands of programs, as data: one file a framework."""

from functools import cache
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from codeplane.surfaces.rule import RULES, Names, parse_rule

COMMAND_RULES: Final = RULES / "commands"


class MountedCommand(BaseModel):
    """A call that puts a command or group below another."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call: str
    child: str = "arg0"
    name: str = ""


class CommandRule(BaseModel):
    """How one framework's commands are written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    framework: str
    languages: Names
    words: Names = Field(default=(), description="A file counts where it has one of these words.")
    groups: Names = Field(default=(), description="Full names of decorators that make a group of a function.")
    commands: Names = Field(default=(), description="Full names of decorators that make a command.")
    owners: Names = Field(default=(), description="Full names of what makes an object with commands.")
    owner_name: str = Field(default="", description="Where the call that makes such an object names it.")
    command_methods: Names = Field(default=(), description="Decorators on a group that make a command.")
    group_methods: Names = Field(default=(), description="Decorators on a group that make a group below.")
    entry_methods: Names = Field(default=(), description="Decorators of what runs before every command.")
    mounts: tuple[MountedCommand, ...] = ()
    name: str = Field(default="arg0", description="Where the name is; else it is the function's.")
    suffixes: Names = Field(default=(), description="What a function's name may end with beside.")
    parsers: Names = Field(default=(), description="Methods that make a parser with a name.")
    defaults: Names = Field(default=(), description="Methods that give a parser the function to run.")
    chain: Names = Field(default=(), description="Methods with the name, before that with the handler.")
    handlers: Names = Field(default=(), description="Methods with the function to run, in a chain.")
    folder: str = Field(default="", description="A folder whose files are commands.")
    class_name: str = ""
    method: str = ""
    program: str = ""


@cache
def command_rules() -> tuple[CommandRule, ...]:
    """The rules that come with CodePlane."""
    return tuple(
        parse_rule(CommandRule, path.read_text(), path.name) for path in sorted(COMMAND_RULES.glob("*.yaml"))
    )
