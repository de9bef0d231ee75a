"""Rules: what a framework's code means, as data. One file a framework; users add theirs."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from codeplane.core.errors import PackInvalid

RULES: Final = Path(__file__).parent / "rules"


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DerivedRule(_Part):
    """An object that a method of another one makes below it."""

    kind: str = Field(description="Its kind.")
    prefix: str = Field(default="", description="Where its prefix is.")


class TypeRule(_Part):
    """A kind of object of a framework: what makes one, and the prefix that it brings."""

    new: Names = Field(default=(), description="Full names of classes or functions whose call makes one.")
    root: bool = Field(default=False, description="Whether it serves by itself, without a mount.")
    prefix: str = Field(default="", description="Where its own prefix is: `kw.prefix | arg0`.")
    table: str = Field(default="", description="Where the list of its routes is in the call that makes one.")
    inner: str = Field(default="", description="Where the object is that it wraps.")
    parent: str = Field(default="", description="Where the object is that it is put on when it is made.")
    same: Names = Field(default=(), description="Attributes that stand for the object itself: `app.router`.")
    lists: Names = Field(default=(), description="Attributes that are the list of its routes: `router.urls`.")
    variable: str = Field(default="", description="A module's variable that is a list of routes.")
    root_setting: str = Field(default="", description="A variable with the name of the module that serves.")
    framework: str = Field(default="", description="The framework, where it isn't the rule's.")
    chains: Names = Field(default=(), description="Methods that give the object itself, so that calls chain.")
    prefix_by: Names = Field(default=(), description="Methods that give it its prefix later: `prefix(path)`.")
    called: Names = Field(default=(), description="Methods whose result stands for the object: `routes()`.")
    derives: Mapping[str, "DerivedRule"] = Field(
        default_factory=dict, description="Methods that make an object below: `app.route(path)`."
    )


class RouteRule(_Part):
    """How a route is written on an object."""

    owner: Names = Field(description="Kinds of objects.")
    decorator: Names = Field(default=(), description="Names of decorators.")
    call: Names = Field(default=(), description="Names of methods.")
    path: str = Field(default="arg0", description="Where the path is.")
    method: str = Field(default="name", description="Where the methods are; `name` is the decorator's own.")
    handler: str = Field(default="decorated", description="What handles it: `decorated`, or an argument.")
    chain: str = Field(default="", description="A method before it in a chain that has the path.")
    strip: str = Field(default="", description="What a method's name begins with before the verb: `add_`.")
    aliases: Mapping[str, str] = Field(default_factory=dict, description="Methods by another name: `del`.")
    expand: Literal["", "drf_viewset"] = Field(default="", description="What makes several routes of one.")


class EntryRule(_Part):
    """An item of a list of routes: a call of a function, or a tuple."""

    function: Names = Field(default=(), description="Full names of functions.")
    is_tuple: bool = Field(default=False, description="Whether a bare tuple is one.")
    path: str = "arg0"
    handler: str = "arg1"
    method: str = Field(default="class", description="Where the methods are; `class` is by the handler.")
    style: Literal["plain", "regex"] = "plain"


class TableCall(_Part):
    """A method that adds a list of routes to an object."""

    owner: Names
    call: Names
    table: str = "arg0"


class MarkedRule(_Part):
    """Functions that a decorator makes routes, and classes whose methods are such."""

    methods: Mapping[str, str] = Field(description="Full name of a decorator, and its verb or a selector.")
    path: str = "arg0 | kw.path"
    base: Names = Field(default=(), description="Classes that such classes are derived from.")
    base_prefix: str = Field(default="path", description="The class attribute with the prefix.")


class MountRule(_Part):
    """How an object is put below another."""

    owner: Names
    call: Names = ()
    child: str = "arg0"
    prefix: str = ""
    join: Literal["concat", "override"] = "concat"
    inverse: bool = Field(
        default=False, description="The object is put below its argument: `api.init_app(app)`."
    )
    enters: str = Field(
        default="", description="The child is a function that gets an object of this kind, below the owner."
    )


class ControllerRule(_Part):
    """Classes whose methods are routes, by decorators or attributes."""

    marker: Names = Field(description="Full names of what marks a class.")
    prefix: str = "arg0"
    methods: Mapping[str, str] = Field(description="Full name of a method's marker, and the verb it serves.")
    path: str = "arg0"
    method: str = Field(default="", description="Where the method is given, if the marker doesn't say it.")
    prefix_markers: Names = Field(default=(), description="Markers of a class that have the prefix instead.")


class StartRule(_Part):
    """A command in the scripts of a `package.json` that serves what a file exports."""

    command: str = Field(description="What the command begins with: `fastify start`.")
    kind: str = Field(description="The kind of object that the exported function gets.")


class FileRule(_Part):
    """Files whose place is their route."""

    project: Names = Field(description="Names of files that stand in the root of a project.")
    package: Names = Field(default=(), description="Packages one of which its `package.json` depends on.")
    folders: Names = Field(description="Folders of routes, below a project's root.")
    file: str = Field(default="", description="The name of such files without its ending; empty for any.")
    prefix: str = Field(default="", description="What their paths begin with.")
    methods: Literal["exports", "any", "suffix"] = Field(
        description="Where methods are: exported functions, any, or the name before the ending."
    )
    base: str = Field(default="", description="The key of the project's file with a path before all.")


class NameRule(_Part):
    """Middleware, registrations and their like: a call or decorator on an object, with a name."""

    owner: Names = ()
    function: Names = ()
    decorator: Names = ()
    call: Names = ()
    name: str = "arg0"
    order: Literal["", "call", "reverse"] = Field(default="", description="How those of one object run.")


class Rule(_Part):
    """Everything about one framework."""

    framework: str
    languages: Names
    imports: Names = Field(default=(), description="A file counts where its imports reach one of these.")
    types: Mapping[str, TypeRule] = Field(default_factory=dict)
    routes: tuple[RouteRule, ...] = ()
    mounts: tuple[MountRule, ...] = ()
    controllers: tuple[ControllerRule, ...] = ()
    middleware: tuple[NameRule, ...] = ()
    entries: tuple[EntryRule, ...] = Field(default=(), description="Items of lists of routes.")
    tables: tuple[TableCall, ...] = ()
    passes: Mapping[str, str] = Field(
        default_factory=dict, description="Functions around a list, and where the list is."
    )
    ignores: Names = Field(default=(), description="Functions that give no route of the repository.")
    marked: MarkedRule | None = None
    files: tuple[FileRule, ...] = ()
    started: StartRule | None = None
    verbs: Mapping[str, Names] = Field(
        default_factory=dict, description="Verbs that a class of the framework serves to its subclasses."
    )
    function_verbs: Mapping[str, str] = Field(
        default_factory=dict, description="Decorators that say what a function serves, and where."
    )
    transparent: Names = Field(
        default=(), description="Functions around a function that make it run on the owner itself."
    )
    expand: Literal["", "graphql_schema", "nest_modules"] = Field(
        default="", description="What makes endpoints of classes."
    )
    folders: Mapping[str, Literal["fastify_autoload"]] = Field(
        default_factory=dict, description="Functions that register every file of a folder, and how."
    )
    default_method: str = Field(default="ANY", description="What a function serves that doesn't say.")
    join: Literal["concat", "slash"] = "concat"


M = TypeVar("M", bound=BaseModel)


def parse_rule(model: type[M], text: str, source: str) -> M:
    """A rule of a file; `PackInvalid` with the place where it is wrong."""
    from codeplane.core.yaml_text import parse_yaml  # its parser takes long to load

    try:
        return model.model_validate(parse_yaml(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise PackInvalid(f"{source}: {where}: {first['msg']}.", file=source) from error
    except ValueError as error:
        raise PackInvalid(f"{source}: {error}.", file=source) from error


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """The rules that come with CodePlane, by framework."""
    return tuple(parse_rule(Rule, path.read_text(), path.name) for path in sorted(RULES.glob("*.yaml")))


class Selector:
    """`arg0 | kw.path | 'GET'`: the first part that is there."""

    def __init__(self, text: str) -> None:
        self.parts = tuple(part.strip() for part in text.split("|")) if text else ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)


@cache
def selector(text: str) -> Selector:
    return Selector(text)


def words_of(rule: Rule) -> set[str]:
    """Names that a file with a route or a mount of the framework contains."""
    names = {name for route in rule.routes for name in (*route.decorator, *route.call)}
    names |= {name for table in rule.tables for name in table.call}
    return names | {name for mount in rule.mounts for name in mount.call}
