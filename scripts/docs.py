"""Writes the reference pages and the list of tools from the code; `--check` only tells which are stale."""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from codeplane.cli._command import EXIT_CODES
from codeplane.cli._group import cpl
from codeplane.config.layers import is_user_only
from codeplane.config.places import ENV_PREFIX
from codeplane.config.settings import LogOutput, Settings
from codeplane.controller.plan_graph import CODES
from codeplane.controller.plan_graph.hooks import HOOKS
from codeplane.core import errors
from codeplane.languages import has_references, specs, support_table
from codeplane.languages.operations.operation import Operation
from codeplane.languages.operations.registry import operations_of, pack_of
from codeplane.refactor.risk import risks
from codeplane.server.decode import _accepted
from codeplane.server.profiles import Profile, profiles
from codeplane.surfaces.coverage import coverage_rows
from codeplane.tools import Tool
from codeplane.tools._registry import LISTING, loaded_tools, row_of

ROOT = Path(__file__).parent.parent
FOLDER = "docs/reference"
LIST = f"src/codeplane/tools/{LISTING.name}"
NOTE = "<!-- Written by scripts/docs.py from the code; `make docs` writes it anew. -->\n\n"
SIGNS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: python scripts/docs.py [--check]", file=sys.stderr)
        return 2
    made = pages()
    stale = [path for path, text in made.items() if _read(ROOT / path) != text]
    if arguments:
        for path in stale:
            print(f"{path} is stale; run: make docs", file=sys.stderr)
        return 1 if stale else 0
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    for path in stale:
        (ROOT / path).write_text(made[path], encoding="utf-8")
    return 0


def pages() -> dict[str, str]:
    """Everything that is generated: its path from the root of the repository, and its text."""
    made = {
        "tools": _tools_page(),
        "errors": _errors_page(),
        "settings": _settings_page(),
        "cli": _cli_page(),
        "languages": _languages_page(),
        "operations": _operations_page(),
        "risks": _risks_page(),
        "rejections": _rejections_page(),
        "surfaces": _surfaces_page(),
    }
    written = {f"{FOLDER}/{name}.md": NOTE + "\n".join(parts).rstrip() + "\n" for name, parts in made.items()}
    return {**written, LIST: _listing()}


def _listing() -> str:
    """What a server tells of its tools before it has loaded them: one line for each."""
    rows = (json.dumps(row_of(tool), ensure_ascii=False) for tool in loaded_tools().values())
    return "[\n" + ",\n".join(rows) + "\n]\n"


def _languages_page() -> Iterator[str]:
    yield "# Languages\n"
    yield "What the index reads out of a file of each language. Other text files are found by their words.\n"
    # Nobody publishes a grammar wheel for it.
    yield "Protocol Buffers (`.proto`) are among those others: there is no grammar for them on PyPI.\n"
    yield support_table()


def _surfaces_page() -> Iterator[str]:
    yield "# Surfaces\n"
    yield (
        "What is read of each framework. Each is a rule file under `src/codeplane/surfaces/rules/`; "
        "[../surfaces.md](../surfaces.md) says what the kinds mean and how to add rules of your own.\n"
    )
    rows = ((name, ", ".join(languages), ", ".join(kinds)) for name, languages, kinds in coverage_rows())
    yield _table(("Framework", "Languages", "Kinds"), rows)


def _risks_page() -> Iterator[str]:
    yield "# Risks of a refactoring\n"
    yield (
        "Why a change that is proven may still break something. What is found is told with the plan, and "
        "asked about where it pays. Each risk is a file of `src/codeplane/refactor/risks/`, with a case of "
        "its name in `tests/cases/risks/`.\n"
    )
    resolved = (name for name, spec in sorted(specs().items()) if spec.scopes.resolves)
    known = {name: specs()[name] for name in resolved if has_references(name)}
    rows = []
    for name, risk in risks().items():
        fitting = [one for one, spec in known.items() if risk.applies(spec)]
        languages = "all" if len(fitting) == len(known) else ", ".join(fitting)
        sentence = risk.sentence.replace("|", "\\|")
        rows.append((f"`{name}`", sentence, risk.subject, languages))
    yield _table(("Risk", "What may happen", "About", "Languages"), rows)


def _rejections_page() -> Iterator[str]:
    yield "# Rejection codes\n"
    yield (
        "What a controlled run is refused with: the codes are in `denyReasons`, and each problem has a sub "
        "code, the node, the field, what was found, and a fix. All problems of a plan come in one answer, "
        "together with a corrected plan that is accepted when it is sent.\n"
    )
    rows = ((f"`{code}`", entry.meaning, entry.raised_by) for code, entry in CODES.items())
    yield _table(("Code", "Meaning", "Raised by"), rows)
    yield "## Sub codes\n"
    details = (
        (f"`{code}`", f"`{name}`", meaning)
        for code, entry in CODES.items()
        for name, meaning in entry.sub_codes.items()
    )
    yield _table(("Code", "Sub code", "Meaning"), details)
    yield "## Verification hooks\n"
    yield _table(("Hook", "What it shows"), ((f"`{name}`", meaning) for name, meaning in HOOKS.items()))


def _operations_page() -> Iterator[str]:
    yield "# Operations\n"
    yield (
        "What a code delta can do to a file, by grammar pack. Each operation is a file of "
        "`src/codeplane/languages/LANGUAGE/operations/`, with its cases in `tests/cases/operations/`. "
        "[../deltas.md](../deltas.md) shows how they are used.\n"
    )
    packs: dict[str, list[str]] = {}
    for language in specs():
        if (pack := pack_of(language)) is not None:
            packs.setdefault(pack, []).append(language)
    for pack, languages in sorted(packs.items()):
        yield f"## {pack}\n"
        endings = [ending for language in languages for ending in specs()[language].extensions]
        yield f"Files: {', '.join(f'`{ending}`' for ending in endings)}\n"
        for name, operation in sorted(operations_of(pack).items()):
            yield from _operation(name, operation)


def _operation(name: str, operation: Operation) -> Iterator[str]:
    yield f"### {name} (version {operation.version})\n"
    yield f"{operation.summary}\n"
    rows = [
        (
            f"`{one.name}`",
            ", ".join(one.choices) or one.kind,
            "yes" if one.is_required else "no",
            one.description.replace("|", "\\|"),
        )
        for one in operation.arguments
    ]
    if rows:
        yield _table(("Argument", "Kind", "Required", "Meaning"), rows)


def _tools_page() -> Iterator[str]:
    tools = loaded_tools()
    offered = profiles(tools)
    yield "# Tools\n"
    yield (
        "Every answer is `{result, meta}`, every failure `{error, meta}` ([errors](errors.md)). A field "
        "without a value is left out. `cpl call TOOL '{...}'` calls a tool from the shell.\n"
    )
    rows = ((p.name, f"`{p.path}`", f"`cpl mcp --profile {p.name}`", len(p.tools)) for p in offered.values())
    yield _table(("Profile", "HTTP endpoint", "stdio", "Tools"), rows)
    yield (
        "Tools marked `state` answer about any state of the files, in every profile; the lists of `full` and "
        "`read` say so. `commit` (a branch, a tag or an id) reads a commit, `workspace` a workspace, and "
        "`virtual_files` (a list of `{path, content}` or `{path, deleted: true}`) files as if they had been "
        "written, on top of either. `consistency` may say which of these counts: `committed`, `workspace` or "
        "`ephemeral`. A cursor goes on in the state that it was made in.\n"
    )
    for tool in tools.values():
        yield from _tool(tool, offered.values())


def _tool(tool: Tool, offered: Iterable[Profile]) -> Iterator[str]:
    yield f"## `{tool.name}`\n"
    yield tool.doc.description.replace("\n", "\n\n") + "\n"
    yield f"- Category: {tool.category}"
    yield f"- Effect: {tool.effect}{', state' if tool.reads_state else ''}"
    yield f"- Profiles: {', '.join(p.name for p in offered if tool.name in p.tools)}"
    if tool.timeout_sec is not None:
        yield f"- Time limit: {tool.timeout_sec:g} s"
    yield "\n### Parameters\n"
    columns = ("Parameter", "Type", "Default", "Meaning", "Also accepted as")
    yield _table(columns, _parameters(tool.input))
    yield "### Answer\n"
    for output in tool.outputs:
        if len(tool.outputs) > 1:
            yield f"`{output.__name__}`:\n"
        yield _table(("Field", "Type", "Meaning"), _fields(output))
    if tool.doc.examples:
        yield "### Examples\n"
        for example in tool.doc.examples:
            shown = json.dumps(example.params, ensure_ascii=False)
            yield f"{example.description}:\n\n```json\n{shown}\n```\n"


def _parameters(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, ...]]:
    accepted = _accepted(model).items()
    for name, field in model.model_fields.items():
        others = sorted(s for s, fields in accepted if fields == {name} and s != name)
        default = "required" if field.is_required() else _value(field.get_default(call_default_factory=True))
        kind = ", ".join([_type(field.annotation), *_bounds(field)])
        told = ", ".join(f"`{other}`" for other in others)
        yield f"`{prefix}{name}`", kind, default, field.description or "", told
        for inner, mark in _models_in(field.annotation):
            yield from _parameters(inner, f"{prefix}{name}{mark}.")


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        if field.exclude:  # it shapes the text and is in no answer
            continue
        yield f"`{prefix}{name}`", _type(field.annotation), field.description or ""
        for inner, mark in _models_in(field.annotation):
            if inner is not model:  # a tree has the same fields at every level
                yield from _fields(inner, f"{prefix}{name}{mark}.")


def _models_in(annotation: Any) -> Iterator[tuple[type[BaseModel], str]]:
    """The models that a field holds, each with the mark of what holds it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, ""
    held = {list: "[]", tuple: "[]", dict: ".*"}.get(get_origin(annotation), "")
    for part in get_args(annotation):
        for model, mark in _models_in(part):
            yield model, held + mark


def _errors_page() -> Iterator[str]:
    opening, tree, closing = inspect.cleandoc(errors.__doc__ or "").split("\n\n", 2)
    yield "# Errors\n"
    yield f"{opening}\n"
    yield (
        "A failed call answers `{error, meta}`. `error` has `code`, `name`, `message` and `retryable` (the "
        "same call may succeed later), and where there is something to say `details` and `hints`. A code may "
        "be allocated before anything raises it. The command line has [exit codes](cli.md#exit-codes).\n"
    )
    yield f"```text\n{inspect.cleandoc(tree)}\n```\n"
    yield closing.split("\n", 1)[0] + "\n"
    rows = (
        (e.code, f"`{e.name()}`", "yes" if e.retryable else "no", " ".join((e.__doc__ or "").split()))
        for e in errors.catalogue()
    )
    yield _table(("Code", "Name", "Retryable", "Meaning"), rows)


SETTINGS_INTRO = f"""\
Settings come from four layers. A key that a stronger layer sets hides the same key of the weaker ones.

1. Overrides: `--set KEY=VALUE` on the command line, then environment variables.
2. The repository: `.codeplane/config.yaml`. Obeyed only when you trust the repository.
3. You: `$XDG_CONFIG_HOME/codeplane/config.yaml`, `~/.config/codeplane/config.yaml` by default.
4. The defaults below.

An environment variable is `{ENV_PREFIX}`, then the key in capitals with two underscores for each dot:
`{ENV_PREFIX}SERVER__PORT=8080` is `server.port: 8080`. Values of `--set` and of variables are read as YAML.

Trust is given by `cpl trust` and kept in your user state, never in the repository. The file of a repository
that is not trusted is not read; `cpl status`, `cpl doctor` and the log say so.

Each layer is checked on its own. An unknown key, a value out of range or a file that is not YAML stops the
command with exit code 2 and a message that names the source and the key. Settings are read when the server
starts, and again when you grant or revoke trust; `cpl mcp` and `cpl call` use those of a server they join.
A setting marked *user only* can't be given by a repository: it says whom CodePlane talks to in your name.
"""


def _settings_page() -> Iterator[str]:
    yield "# Settings\n"
    yield SETTINGS_INTRO
    columns = ("Key", "Type", "Default", "Range", "Meaning")
    yield _table(columns, _settings(Settings))
    yield "Each item of `logging.outputs`:\n"
    yield _table(columns, _settings(LogOutput))


def _settings(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        kind, meaning = field.annotation, field.description or ""
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _settings(kind, f"{prefix}{name}.")
        else:
            default = _value(field.get_default(call_default_factory=True))
            bounds = ", ".join([*_bounds(field), *(["user only"] if is_user_only(field) else [])])
            yield f"`{prefix}{name}`", _type(kind), default, bounds, meaning


def _bounds(field: FieldInfo) -> list[str]:
    return [f"{sign} {getattr(m, b)}" for m in field.metadata for b, sign in SIGNS.items() if hasattr(m, b)]


def _cli_page() -> Iterator[str]:
    yield "# Command line\n"
    top = click.Context(cpl, info_name="cpl", **cpl.context_settings)
    yield from _command(cpl, top)
    yield "## Exit codes\n"
    codes = {0: ["the command did what it was asked"], 2: ["the command line or a setting is wrong"]}
    for _, code, meaning in EXIT_CODES:
        if meaning not in codes.setdefault(code, []):
            codes[code].append(meaning)
    codes[1] += ["`cpl doctor` or `cpl log --verify` found something wrong", "the command was interrupted"]
    yield _table(("Code", "Meaning"), ((code, "; ".join(codes[code])) for code in sorted(codes)))


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## `{ctx.command_path}`\n"
    yield f"```text\n{' '.join([ctx.command_path, *command.collect_usage_pieces(ctx)])}\n```\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        yield " ".join(paragraph.split()) + "\n"
    records = (parameter.get_help_record(ctx) for parameter in command.get_params(ctx))
    documented = ((f"`{record[0]}`", record[1]) for record in records if record and record[1])
    yield _table(("Option", "Meaning"), documented)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from _command(inner, click.Context(inner, info_name=name, parent=ctx))


def _type(annotation: Any) -> str:
    """A type in words: `str | None` is a string, since an absent field is left out."""
    names = {str: "string", int: "integer", float: "number", bool: "boolean", Any: "any value"}
    if annotation in names:
        return names[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(f"`{choice}`" for choice in arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "one of " + ", ".join(f"`{choice.value}`" for choice in annotation)
    if origin in (Union, UnionType):
        return " or ".join(_type(choice) for choice in arguments if choice is not NoneType)
    if origin in (list, tuple):
        return f"list of {_type(arguments[0])}"
    return "object"


def _value(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value, default=_plain, ensure_ascii=False)}`"


def _plain(value: object) -> object:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else str(value)


def _table(columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    shown = ("| " + " | ".join(str(c).replace("|", "\\|").strip() for c in line) + " |" for line in lines)
    return "\n".join(shown) + "\n" if len(lines) > 2 else "None.\n"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
