"""Tables of ag-Grid in components of Angular: their columns, and what renders the cells."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.languages.sites import ValueKind
from codeplane.surfaces.expanders.angular import AngularCode
from codeplane.surfaces.fact_graph import SurfaceFact
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.values import Environment, Located, Thing, ThingKind

_TAG: Final = re.compile(r"<ag-grid-angular\b([^>]*)", re.DOTALL)
_BINDING: Final = re.compile(r"""\[(\w+)\]\s*=\s*["']\s*(?:this\.)?([\w$.]+)\s*(?:\(\s*\))?\s*["']""")
_COLUMNS: Final = ("columnDefs", "columns")
_RENDERERS: Final = ("cellRenderer", "cellRendererFramework", "cellRendererComponent")
_COMPONENTS: Final = ("components", "frameworkComponents")
_MARKS: Final = frozenset({"field", "colId", "headerName", "children", *_RENDERERS})


class _Grid(NamedTuple):
    """A table in the template of a component, with what its tag binds."""

    place: Place
    table: SurfaceFact
    bindings: dict[str, str]


def read_grids(angular: AngularCode) -> None:
    """Ties tables to columns, columns to renderers, renderers to where they lead."""
    for place in sorted(angular.components):
        template = angular.template_of(place)
        if template is None or "<ag-grid-angular" not in template[1]:
            continue
        path, source, before = template
        name = angular.code.definition(place).name
        for match in _TAG.finditer(source):
            line = before + source.count("\n", 0, match.start()) + 1
            symbol = name if path == place.path else ""
            table = SurfaceFact("Table", name, path, line, symbol)
            _Columns(angular, _Grid(place, table, dict(_BINDING.findall(match[1])))).read()


class _Columns:
    """The columns of one table."""

    def __init__(self, angular: AngularCode, grid: _Grid) -> None:
        self._angular, self._evaluator, self._grid = angular, angular.evaluator, grid

    def read(self) -> None:
        graph = self._angular.graph
        graph.add(self._grid.table)
        for mapping in self._column_mappings():
            line = self._evaluator.line_of(mapping.path, mapping.value.start)
            column = SurfaceFact("ColumnDef", self._label(mapping), mapping.path, line)
            graph.connect(self._grid.table, "HAS_COLUMN", column)
            renderer = self._renderer(mapping)
            if renderer is None:
                continue
            fact = self._angular.component_fact(renderer, "CellRenderer")
            graph.connect(column, "RENDERED_BY", fact)
            for trigger in self._angular.navigations(renderer):
                graph.connect(fact, "TRIGGERS", trigger)

    def _label(self, mapping: Located) -> str:
        for name in ("field", "colId", "headerName"):
            item = self._evaluator.mapping_item(mapping, name)
            text = self._evaluator.text(item) if item is not None else None
            if text:
                return text
        return "?"

    def _column_mappings(self) -> Iterator[Located]:
        for name in _COLUMNS:
            for value in self._bound_values(name):
                yield from self._mappings_in(value)

    def _bound_values(self, name: str) -> Iterator[Located]:
        """The values of what the tag binds, or of a key of the options that it binds."""
        bound = self._grid.bindings.get(name)
        if bound is not None:
            yield from self._field_values(bound)
        options = self._grid.bindings.get("gridOptions")
        for value in self._field_values(options) if options is not None else ():
            thing = self._evaluator.evaluate(value)
            item = self._evaluator.mapping_item(thing.made_by, name) if thing.made_by is not None else None
            if item is not None:
                yield item

    def _field_values(self, name: str) -> Iterator[Located]:
        """Every value that a class gives a field, or that a method of it returns."""
        for one in ancestry(self._evaluator, self._grid.place):
            if not isinstance(one, Place):
                continue
            first, last = self._evaluator.byte_span(one.path, self._angular.code.definition(one).span)
            table = self._evaluator.sites(one.path).by_name
            environment = Environment(things={"this": self._angular.instance(self._grid.place)})
            for site in (*table.get(name, ()), *table.get(f"this.{name}", ())):
                if first <= site.start < last:
                    yield Located(one.path, site.value, environment)

    def _mappings_in(self, value: Located, depth: int = 0) -> Iterator[Located]:
        """The columns of a list, those of groups too; `signal([…])` holds its argument."""
        if depth > 4:
            return
        items = self._evaluator.items(value)
        if items is None and value.value.kind is ValueKind.CALL and value.value.argument(0) is not None:
            inner = self._angular.arguments.value(value, "arg0")
            items = self._evaluator.items(inner) if inner is not None else None
        for item in items or ():
            thing = self._evaluator.evaluate(item)
            mapping = thing.made_by
            if thing.kind is not ThingKind.LITERAL or mapping is None:
                continue
            if any(one.keyword in _MARKS for one in mapping.value.items):
                yield mapping
                children = self._evaluator.mapping_item(mapping, "children")
                yield from self._mappings_in(children, depth + 1) if children is not None else ()

    def _renderer(self, mapping: Located) -> Place | None:
        """The class that renders the cells: as such, or by the name that the table knows it by."""
        for name in _RENDERERS:
            item = self._evaluator.mapping_item(mapping, name)
            thing = self._evaluator.evaluate(item) if item is not None else None
            if thing is not None and thing.kind is ThingKind.TEXT:
                thing = self._registered(thing.text)
            if thing is not None and thing.kind is ThingKind.DEFINITION:
                return thing.target[0]
        return None

    def _registered(self, name: str) -> Thing | None:
        for key in _COMPONENTS:
            for value in self._bound_values(key):
                thing = self._evaluator.evaluate(value)
                if (
                    thing.kind is ThingKind.LITERAL
                    and self._evaluator.literal_member(thing, name) is not None
                ):
                    return self._evaluator.member(thing, name)
        return None
