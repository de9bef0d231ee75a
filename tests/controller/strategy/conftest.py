from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.index import Workers
from codeplane.names import Index, Snapshot
from tests.drive import new_repo
from tests.index.conftest import tree_of

GRID = {
    "src/orders.table.ts": (
        'import { ColDef } from "ag-grid-community";\n\n'
        "export const ordersTable = {};\n"
        'export const idColumn: ColDef = { field: "id" };\n'
    ),
    "src/link.renderer.ts": "export class LinkRenderer {\n  open() {\n    return 1;\n  }\n}\n",
    "src/routes.ts": 'export const routes = [{ path: "orders/:id" }];\n',
    "src/order.component.ts": "export class OrderComponent {}\n",
    "src/order.service.ts": "export class OrderService {\n  load() {\n    return 2;\n  }\n}\n",
    "src/order.model.ts": "export interface Order {\n  id: string;\n}\n",
    "src/card.ts": "export class Card extends HTMLElement {\n  root = this.attachShadow();\n}\n",
    "src/remote.ts": 'import { loadRemoteModule } from "@angular-architects/module-federation";\n',
    "src/legacy.ts": 'import { Grid } from "@adp/grid";\n',
    "src/plain.ts": "export const nothing = 1;\n",
    "api/openapi.yaml": "openapi: 3.1.0\n",
    "module-federation.config.js": "module.exports = {};\n",
}
"""A front end with a table, a renderer, a route and what is behind them."""


@pytest.fixture
def grid(tmp_path: Path, workers: Workers) -> Iterator[Snapshot]:
    repo = new_repo(tmp_path / "grid", GRID)
    index = Index.open(tmp_path / "index.db", tree_of(repo), workers)
    index.refresh()
    with index.snapshot() as snapshot:
        yield snapshot
    index.close()
