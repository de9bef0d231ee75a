"""Rules of frameworks whose routes are annotations on the methods of classes."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from codeplane.surfaces.rule import Names, parse_rule

RULES: Final = Path(__file__).parent.parent / "rules" / "annotated"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MappingRule(_Part):
    """An annotation of a method."""

    verb: str = Field(default="", description="The verb that it says; empty where it says none by its name.")
    method: str = Field(default="", description="Where the verbs are, if it names them.")
    path: str = Field(default="", description="Where its path is; as of all others if empty.")
    has_path: bool = Field(default=True, description="Whether it may have a path.")


class AnnotationRule(_Part):
    """Everything about one framework whose routes are annotations."""

    framework: str
    languages: Names
    imports: Names = Field(default=(), description="A file counts where its imports reach one of these.")
    words: Names = Field(default=(), description="A file counts where it holds one of these names.")
    package: Names = Field(
        default=(), description="What stands before the names of annotations in full names."
    )
    is_bare: bool = Field(
        default=False, description="Whether names count without an import that brings them."
    )
    suffix: str = Field(default="", description="What names of annotations may end with.")
    markers: Names = Field(default=(), description="Annotations that make a class a controller.")
    bases: Names = Field(default=(), description="Classes whose subclasses are controllers.")
    class_suffix: str = Field(default="", description="What names of controllers end with.")
    excludes: Names = Field(default=(), description="Annotations of classes that are none.")
    class_path: Names = Field(description="Annotations of a class with its prefix.")
    class_method: str = Field(default="", description="Where a class says the verbs of all its methods.")
    path: str = "arg0"
    methods: Mapping[str, MappingRule] = Field(description="Annotations of methods.")
    default_method: str = "ANY"
    inherits: bool = Field(default=False, description="Whether annotations of bases and interfaces count.")
    needs_verb: bool = Field(default=False, description="Whether a path alone is a sub-resource locator.")
    application: Names = Field(
        default=(), description="Annotations of a class with the prefix of everything."
    )
    public: bool = Field(
        default=False, description="Whether every public method of a class with a path is one."
    )
    hidden: Names = Field(default=(), description="Annotations of methods that are none.")
    tokens: Mapping[str, str] = Field(
        default_factory=dict, description="Texts in paths: the class, the method, or an annotation of these."
    )
    invoke: str = Field(default="", description="The method that handles the path of its class.")
    overrides: Names = Field(default=(), description="Beginnings of a path that leave out the prefix.")
    combine: Literal["each", "split"] = Field(
        default="each",
        description="`split`: annotations without a path are the verbs of those that have one.",
    )
    prefix_keys: Names = Field(default=(), description="Settings with the prefix of everything.")
    prefix_files: str = Field(default="", description="YAML files that give prefixes to directories.")


@cache
def annotation_rules() -> tuple[AnnotationRule, ...]:
    """The rules that come with CodePlane, by framework."""
    return tuple(
        parse_rule(AnnotationRule, path.read_text(), path.name) for path in sorted(RULES.glob("*.yaml"))
    )
