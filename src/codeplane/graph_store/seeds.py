"""Seed files: the rows of the graph that people write and share, one JSON object a line.

Of several rows with one id the highest version counts, so that an exported delta can be put beside the rows
that it changes. A row with `"deleted": true` takes away what lower versions say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import Malformed, parse_json
from codeplane.core.errors import GraphTooLarge, SeedInvalid
from codeplane.core.suggest import nearest
from codeplane.graph_store.model import Edge, Node, RowRefused, check_edge, check_node
from codeplane.storage.files import read_small

REQUIRED: Final = ("id", "type", "version", "updated_at", "updated_by")
_OPTIONAL: Final = ("properties", "source", "target", "deleted")
LARGEST_FILE: Final = 64 << 20
LONGEST_ROW: Final = 65_536
MOST_FILES: Final = 2_000
MOST_ROWS: Final = 500_000
_MOST_PROBLEMS: Final = 50


@dataclass(frozen=True)
class Seeds:
    """The graph that the seed files describe."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    files: int
    rows: int

    def by_id(self) -> dict[str, Node | Edge]:
        rows: list[Node | Edge] = [*self.nodes, *self.edges]
        return {row.id: row for row in rows}


@dataclass(frozen=True)
class _Row:
    place: str
    content: Node | Edge
    is_deleted: bool


def read_seeds(folder: Path) -> Seeds:
    """Reads every seed file; `SeedInvalid` lists all problems with file and line, and then nothing is taken.

    The caller has made sure that the repository is trusted.
    """
    problems: list[str] = []
    rows: dict[str, _Row] = {}
    files = _list_files(folder)
    count = 0
    for file in files:
        for place, text in _read_lines(file, folder, problems):
            count += 1
            if count > MOST_ROWS:
                raise GraphTooLarge(f"The seed files have more than {MOST_ROWS} rows.", rows=count)
            try:
                _take_row(_parse_row(place, text), rows)
            except RowRefused as error:
                problems.append(f"{place}: {error}")
    present = [row for row in rows.values() if not row.is_deleted]
    problems += _dangling_ends(present)
    _refuse_problems(problems)
    contents = sorted((row.content for row in present), key=lambda content: content.id)
    nodes = tuple(content for content in contents if isinstance(content, Node))
    edges = tuple(content for content in contents if isinstance(content, Edge))
    return Seeds(nodes, edges, len(files), count)


def _list_files(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    # A link could lead out of the repository.
    files = sorted(file for file in folder.rglob("*.jsonl") if not _has_link(file, folder))
    if len(files) > MOST_FILES:
        raise GraphTooLarge(f"{folder} has {len(files)} seed files; at most {MOST_FILES} are read.")
    return files


def _has_link(file: Path, folder: Path) -> bool:
    parts = file.relative_to(folder).parents
    return file.is_symlink() or any((folder / part).is_symlink() for part in parts)


def _read_lines(file: Path, folder: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    name = file.relative_to(folder).as_posix()
    data = read_small(file, LARGEST_FILE)
    if data is None:
        problems.append(f"{name}: it is no plain file of at most {LARGEST_FILE} bytes")
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        place = f"{name}:{number}"
        if len(line) > LONGEST_ROW:
            problems.append(f"{place}: the row has more than {LONGEST_ROW} bytes")
            continue
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            problems.append(f"{place}: the row is not UTF-8")
            continue
        if text:
            yield place, text


def _parse_row(place: str, text: str) -> _Row:
    try:
        row = parse_json(text)
    except Malformed as error:
        raise RowRefused(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise RowRefused("a row has to be an object")
    _check_fields(row)
    stamp = {name: row[name] for name in ("version", "updated_at", "updated_by")}
    properties = _plain_properties(row.get("properties", {}))
    content: Node | Edge
    if "source" in row or "target" in row:
        ends = (row.get("source"), row.get("target"))
        content = Edge(row["id"], row["type"], *ends, properties, **stamp)  # type: ignore[arg-type]
        check_edge(content)
    else:
        content = Node(row["id"], row["type"], properties, **stamp)
        check_node(content)
    return _Row(place, content, row.get("deleted", False))


def _check_fields(row: Mapping[str, Any]) -> None:
    if missing := [name for name in REQUIRED if name not in row]:
        raise RowRefused(f"the row has no {', '.join(f'`{name}`' for name in missing)}")
    for name in row:
        if name not in REQUIRED and name not in _OPTIONAL:
            near = nearest(name, (*REQUIRED, *_OPTIONAL), most=1)
            hint = f"did you mean `{near[0]}`?" if near else "what it says belongs into `properties`"
            raise RowRefused(f"unknown field `{name[:60]}`; {hint}")
    if not isinstance(row["updated_by"], str) or not row["updated_by"].strip():
        raise RowRefused("`updated_by` has to say who changed the row")
    if not isinstance(row.get("deleted", False), bool):
        raise RowRefused("`deleted` has to be true or false")
    _check_time(row["updated_at"])


def _check_time(value: object) -> None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise RowRefused("`updated_at` has to be a time with its zone, such as 2026-01-31T12:00:00Z")


def _plain_properties(values: object) -> Any:
    if not isinstance(values, dict):
        return values
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _take_row(row: _Row, rows: dict[str, _Row]) -> None:
    other = rows.get(row.content.id)
    if other is None:
        rows[row.content.id] = row
        return
    if type(other.content) is not type(row.content):
        raise RowRefused(f"`{row.content.id}` is a node and an edge: see {other.place}")
    if other.content.version == row.content.version:
        raise RowRefused(f"`{row.content.id}` has version {row.content.version} twice: see {other.place}")
    if row.content.version > other.content.version:
        rows[row.content.id] = row


def _dangling_ends(rows: list[_Row]) -> list[str]:
    nodes = {row.content.id for row in rows if isinstance(row.content, Node)}
    return [
        f"{row.place}: the edge `{row.content.id}` names the node `{end}`, which no row describes"
        for row in rows
        if isinstance(row.content, Edge)
        for end in (row.content.source, row.content.target)
        if end not in nodes
    ]


def _refuse_problems(problems: list[str]) -> None:
    if not problems:
        return
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    text = f"The seed files are not valid, so nothing was changed: {problems[0]}{more}."
    raise SeedInvalid(text, problems=problems[:_MOST_PROBLEMS], total=len(problems))
