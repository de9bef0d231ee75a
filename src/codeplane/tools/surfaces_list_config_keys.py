from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.proof import Absence
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.surfaces.collectors.config_use import ConfigUse
from codeplane.surfaces.config_keys import ConfigKey, config_surface, group_keys
from codeplane.surfaces.scope import own_files
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 100
_MOST_DYNAMIC = 10
_MOST_USES = 5


class SurfacesListConfigKeysInput(Input):
    key_filter: Annotated[str | None, synonyms("key", "name", "query", "filter")] = Field(
        default=None, max_length=500, description="Only keys that contain this."
    )
    include_tests: bool = Field(
        default=False, description="Also keys in tests and fixtures.", json_schema_extra=UNLISTED
    )
    limit: int = Field(default=20, description="Most keys, up to 100.")


class ConfigUseRow(Output):
    path: str = Field(description="File.")
    line: int = Field(description="Line.")
    usage_pattern: str = Field(description="How it is read or defined.")
    used_by: str | None = Field(default=None, description="Symbol around it.")

    def render(self) -> str:
        symbol = f" in {self.used_by}" if self.used_by else ""
        return f"{self.path}:{self.line} {self.usage_pattern}{symbol}"


class ConfigKeyRow(Output):
    key: str = Field(description="Name of the key.")
    default: str | None = Field(default=None, description="Default of the first read that has one.")
    reads: list[ConfigUseRow] | None = Field(default=None, description="Where it is read.")
    definitions: list[ConfigUseRow] | None = Field(default=None, description="Where it is defined.")
    more: int | None = Field(default=None, description="Uses that are not listed.")

    def render(self) -> str:
        default = f" (default {self.default!r})" if self.default is not None else ""
        lines = [f"{self.key}{default}"]
        lines += [f"  read {use.render()}" for use in self.reads or ()]
        lines += [f"  defined {use.render()}" for use in self.definitions or ()]
        if self.more:
            lines.append(f"  {self.more} more")
        return "\n".join(lines)


class SurfacesListConfigKeysOutput(Output):
    keys: list[ConfigKeyRow] = Field(description="Keys by name.")
    total: int = Field(description="Keys that match.")
    truncated: bool | None = Field(default=None, description="Whether there are more than listed.")
    dynamic: dict[str, int] | None = Field(
        default=None, description="Reads by file whose key is only known at run time."
    )
    absence: Absence | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        lines = [row.render() for row in self.keys]
        if self.truncated:
            lines.append(f"{self.total - len(self.keys)} more of {self.total}")
        if not lines:
            lines.append("No configuration keys.")
        if self.dynamic:
            files = ", ".join(f"{path} ({count})" for path, count in self.dynamic.items())
            lines.append(f"not listed, the key is only known at run time: {files}")
        return "\n".join(lines)


@tool(Effect.READ, "surfaces")
def surfaces_list_config_keys(call: Call, args: SurfacesListConfigKeysInput) -> SurfacesListConfigKeysOutput:
    """Lists the configuration keys of this repository: where each is read and defined, and its default.

    Use when:
    - you need the environment variables and settings that the code depends on
    Not for:
    - the value that a key has on this machine
    Examples:
    - All that have to do with the database: {"key_filter": "DATABASE"}
    """
    return call.ask(lambda snapshot: _answer(call, args, snapshot))


def _answer(
    call: Call, args: SurfacesListConfigKeysInput, snapshot: Snapshot
) -> SurfacesListConfigKeysOutput:
    surface = config_surface(snapshot)
    limit = clamped(call, "limit", args.limit, MOST)
    is_own = own_files(snapshot, include_tests=args.include_tests)
    wanted = (args.key_filter or "").lower()
    keys = group_keys(use for use in surface.uses if is_own(use.path) and wanted in use.key.lower())
    dynamic = {path: count for path, count in surface.dynamic.items() if is_own(path)}
    return SurfacesListConfigKeysOutput(
        keys=[_row(snapshot, key) for key in keys[:limit]],
        total=len(keys),
        truncated=len(keys) > limit or None,
        dynamic=dict(sorted(dynamic.items())[:_MOST_DYNAMIC]) or None,
        absence=None if keys or dynamic else Absence.PROVEN_NONE,
    )


def _row(snapshot: Snapshot, key: ConfigKey) -> ConfigKeyRow:
    listed = len(key.reads[:_MOST_USES]) + len(key.definitions[:_MOST_USES])
    return ConfigKeyRow(
        key=key.key,
        default=key.default,
        reads=[_use_row(snapshot, use) for use in key.reads[:_MOST_USES]] or None,
        definitions=[_use_row(snapshot, use) for use in key.definitions[:_MOST_USES]] or None,
        more=len(key.reads) + len(key.definitions) - listed or None,
    )


def _use_row(snapshot: Snapshot, use: ConfigUse) -> ConfigUseRow:
    return ConfigUseRow(
        path=use.path,
        line=use.line,
        usage_pattern=use.pattern,
        used_by=snapshot.qualified(use.symbol) if use.symbol is not None else None,
    )
