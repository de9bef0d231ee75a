"""Facts of user interfaces: tables, routes, components and remotes, tied into the controller's chains."""

from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.controller.strategy import prove
from codeplane.controller.strategy.run_strategy import open_graph
from codeplane.controller.strategy.surface_facts import SurfaceFacts
from codeplane.session import Checkout, RepoSession
from codeplane.surfaces.expanders.angular import leads_to
from tests.drive import new_repo, user_env

_GRID = {
    "src/app/app.module.ts": """import { NgModule } from "@angular/core";
import { RouterModule, Routes } from "@angular/router";
const routes: Routes = [
  { path: "admin", loadChildren: () => import("./admin.module").then((m) => m.AdminModule) },
];
@NgModule({ imports: [RouterModule.forRoot(routes)] })
export class AppModule {}
""",
    "src/app/admin.module.ts": """import { NgModule } from "@angular/core";
import { RouterModule } from "@angular/router";
import { DetailComponent } from "./detail.component";
@NgModule({ imports: [RouterModule.forChild([{ path: "users/:id", component: DetailComponent }])] })
export class AdminModule {}
""",
    "src/app/list.component.ts": """import { Component } from "@angular/core";
import { ButtonComponent } from "./button.component";
@Component({ selector: "app-list", templateUrl: "./list.component.html" })
export class ListComponent {
  columns = [{ field: "name" }, { field: "open", cellRenderer: "button" }];
  renderers = { button: ButtonComponent };
}
""",
    "src/app/list.component.html": """<h1>Users</h1>
<ag-grid-angular
  [columnDefs]="columns"
  [components]="renderers"></ag-grid-angular>
""",
    "src/app/button.component.ts": """import { Component, inject } from "@angular/core";
import { Router } from "@angular/router";
@Component({ template: "<button (click)='open()'></button>" })
export class ButtonComponent {
  private router = inject(Router);
  open() {
    this.router.navigate(["/admin/users", this.params.data.id]);
  }
}
""",
    "src/app/detail.component.ts": """import { Component } from "@angular/core";
import { UserService } from "./user.service";
@Component({ selector: "app-detail", template: "" })
export class DetailComponent {
  constructor(private users: UserService) {}
}
""",
    "src/app/user.service.ts": """import { Injectable } from "@angular/core";
import { HttpClient } from "@angular/common/http";
@Injectable({ providedIn: "root" })
export class UserService {
  constructor(private http: HttpClient) {}
  other() {}
  load(id: string) {
    return this.http.get(`/api/users/${id}`);
  }
}
""",
}
_FEDERATION = {
    "host/routes.ts": """import { provideRouter, Routes } from "@angular/router";
import { loadRemoteModule } from "@angular-architects/native-federation";
export const routes: Routes = [
  { path: "flights", loadChildren: () => loadRemoteModule("mfe1", "./Module").then((m) => m.FlightsModule) },
];
provideRouter(routes);
""",
    "host/assets/mf.manifest.json": '{\n  "mfe1": "http://localhost/remoteEntry.js"\n}\n',
    "mfe1/webpack.config.js": """module.exports = withModuleFederationPlugin({
  name: "mfe1",
  exposes: { "./Module": "./src/flights.module.ts" },
});
""",
    "mfe1/src/flights.module.ts": """import { NgModule } from "@angular/core";
import { RouterModule } from "@angular/router";
import { SearchComponent } from "./search.component";
@NgModule({ imports: [RouterModule.forChild([{ path: "search", component: SearchComponent }])] })
export class FlightsModule {}
""",
    "mfe1/src/search.component.ts": """import { Component } from "@angular/core";
@Component({ template: "" })
export class SearchComponent {}
""",
}


def _chain(tmp_path: Path, files: dict[str, str], chain_id: str) -> tuple[list[str], str | None]:
    root = new_repo(tmp_path / "repo", files)
    session = RepoSession.open(Checkout.find(root, Places.of_user(user_env(tmp_path / "home"))))
    try:
        session.index.refresh()
        with session.index.snapshot() as snapshot, open_graph(session) as store:
            result = prove(chain_id, None, store, snapshot, sources=(SurfaceFacts(snapshot),))
            return [hop.fact_id for hop in result.hops], result.broken_at
    finally:
        session.close()


def test_a_table_leads_to_what_its_cells_come_from(tmp_path: Path) -> None:
    assert _chain(tmp_path, _GRID, "aggrid_origin") == (
        [
            "Table ListComponent src/app/list.component.html:2",
            "ColumnDef open src/app/list.component.ts:5",
            "CellRenderer ButtonComponent src/app/button.component.ts:4",
            "NavTrigger /admin/users/:? src/app/button.component.ts:7",
            "Route /admin/users/:id src/app/admin.module.ts:4",
            "Component DetailComponent src/app/detail.component.ts:4",
            "Service UserService src/app/user.service.ts:4",
            "Definition UserService.load src/app/user.service.ts:8",
        ],
        None,
    )


def test_a_route_of_the_host_leads_to_the_component_of_a_remote(tmp_path: Path) -> None:
    assert _chain(tmp_path, _FEDERATION, "federation_proof") == (
        [
            "HostRoute /flights host/routes.ts:4",
            "FederationMapping mfe1 ./Module host/assets/mf.manifest.json:2",
            "RemoteExpose mfe1 ./Module mfe1/webpack.config.js:3",
            "RemoteModule mfe1/src/flights.module.ts mfe1/src/flights.module.ts:5",
            "DestinationComponent SearchComponent mfe1/src/search.component.ts:3",
        ],
        None,
    )


def test_a_renderer_that_leads_nowhere_breaks_the_chain(tmp_path: Path) -> None:
    files = {
        **_GRID,
        "src/app/button.component.ts": _GRID["src/app/button.component.ts"].replace("users", "x"),
    }
    hops, broken_at = _chain(tmp_path, files, "aggrid_origin")
    assert (len(hops), broken_at) == (4, "Route")


def test_a_repository_without_angular_has_no_facts(tmp_path: Path) -> None:
    assert _chain(tmp_path, {"a.ts": 'import x from "./angular/core";\n'}, "aggrid_origin") == ([], "Table")


@pytest.mark.parametrize(
    ("address", "route", "matches"),
    [
        ("/admin/users/\0", "/admin/users/:id", True),
        ("admin/users/7?tab=1", "/admin/users/:id", True),
        ("/admin/\0", "/admin/users", False),
        ("/admin", "/admin/users", False),
    ],
)
def test_an_address_leads_to_a_route(address: str, route: str, *, matches: bool) -> None:
    assert leads_to(address, route) is matches
