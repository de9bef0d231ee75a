"""Tickets and API operations in a controlled run: fetched, kept, cited, and refused with a way on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.controller.fetched_artifacts import MOST_ARTIFACTS
from codeplane.controller.runs import run_store
from tests.connectors.servers import TOKEN, Host, serving_host
from tests.controller.lab import APP, Desk, open_desk

DESCRIPTIONS = Path(__file__).parent.parent / "connectors" / "descriptions"
PETS = (DESCRIPTIONS / "pets.yaml").read_text()
FILES = {
    **APP,
    "docs/openapi.yaml": PETS,
    "docs/broken-openapi.yaml": "openapi: [",
    ".env": "openapi: 3.0.0\n",
}


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with serving_host() as host:
        issue = {"key": "PROJ-7", "fields": {"summary": "Count pages", "description": f"Round up. {TOKEN}"}}
        host.answer("/rest/api/2/issue/PROJ-7", json.dumps(issue))
        host.answer("/api.json", (DESCRIPTIONS / "orders.json").read_bytes())
        host.answer("/moved", "", 302, location="https://evil.example/x")
        yield host


@pytest.fixture
def desk(tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("JIRA_PAT", TOKEN)
    settings = {
        "connectors__hosts": [host.netloc],
        "connectors__jira__base_url": host.url,
        "connectors__jira__token_env": "JIRA_PAT",
        "connectors__retries": 0,
    }
    with open_desk(tmp_path, FILES, **settings) as desk:
        yield desk


def test_a_ticket_is_fetched_kept_and_can_be_cited(desk: Desk, host: Host) -> None:
    answer = desk.turn("fetch_jira_ticket", ticketKey="proj-7", workId="w1")
    assert answer.codes == []
    result = answer.result["result"]
    assert (result["key"], result["description"]) == ("PROJ-7", "Round up. [redacted]")
    assert "| Count pages" in answer.text and f"evidence {result['evidence']} (PROJ-7)" in answer.text
    record = desk.run_of("w1").body.artifacts["PROJ-7"]
    assert (record["kind"], record["digest"]) == ("ticket", result["digest"])
    state = b"".join(path.read_bytes() for path in desk.session.state.path.rglob("*") if path.is_file())
    assert TOKEN.encode() not in state
    assert TOKEN not in answer.text + json.dumps(answer.body)


def test_operations_of_an_address_and_of_a_file_are_kept_by_name(desk: Desk, host: Host) -> None:
    address = f"{host.url}/api.json"
    listing = desk.turn("fetch_api_spec", specUrl=address, workId="w1")
    assert "POST /orders  placeOrder" in listing.text
    single = desk.turn("fetch_api_spec", specUrl=address, operation="placeOrder", workId="w1")
    desk.turn("fetch_api_spec", path="docs/openapi.yaml", operation="GET /pets/{petId}", workId="w1")
    artifacts = desk.run_of("w1").body.artifacts
    assert list(artifacts) == [address, "POST /orders", "GET /pets/{petId}"]
    assert [record["kind"] for record in artifacts.values()] == [
        "api_operations",
        "api_operation",
        "api_operation",
    ]
    assert artifacts["POST /orders"]["digest"] == single.result["result"]["operation"]["digest"]


def test_operations_of_one_name_in_two_descriptions_are_two_artifacts(desk: Desk, host: Host) -> None:
    host.answer("/pets.yaml", PETS, kind="application/yaml")
    for source in ("docs/openapi.yaml", f"{host.url}/pets.yaml", "docs/openapi.yaml"):
        desk.turn("fetch_api_spec", specUrl=source, operation="showPet", workId="w1")
    names = sorted(desk.run_of("w1").body.artifacts)
    assert names == ["GET /pets/{petId}", f"{host.url}/pets.yaml#GET /pets/{{petId}}"]


def test_a_run_keeps_a_bounded_number_of_artifacts(desk: Desk) -> None:
    run_artifacts = {f"OLD-{number}": {"kind": "ticket"} for number in range(MOST_ARTIFACTS)}
    desk.turn("get_original_prompt", workId="w1")
    run = desk.run_of("w1")
    run.body.artifacts = {name: dict(record) for name, record in run_artifacts.items()}
    run_store(desk.session).save(run)
    desk.turn("fetch_jira_ticket", ticketKey="PROJ-7", workId="w1")
    names = list(desk.run_of("w1").body.artifacts)
    assert (len(names), names[0], names[-1]) == (MOST_ARTIFACTS, "OLD-1", "PROJ-7")


@pytest.mark.parametrize(
    ("verb", "arguments", "code"),
    [
        ("fetch_jira_ticket", {"ticketKey": "PROJ-8"}, "CONNECTOR_NOT_FOUND"),
        ("fetch_jira_ticket", {"ticketKey": "../x"}, "INVALID_ARGUMENT"),
        ("fetch_api_spec", {"specUrl": "https://evil.example/api.json"}, "HOST_NOT_ALLOWED"),
        ("fetch_api_spec", {"specUrl": "http://127.0.0.1:1/api.json"}, "HOST_NOT_ALLOWED"),
        ("fetch_api_spec", {"specUrl": "file:///etc/passwd"}, "INVALID_ARGUMENT"),
        ("fetch_api_spec", {"specUrl": "no/such.yaml"}, "NOT_FOUND"),
        ("fetch_api_spec", {"specUrl": "../../etc/passwd"}, "PATH_REFUSED"),
        ("fetch_api_spec", {"specUrl": ".codeplane/config.yaml"}, "PATH_REFUSED"),
        ("fetch_api_spec", {"specUrl": ".env"}, "NOT_FOUND"),
        ("fetch_api_spec", {"specUrl": "docs/broken-openapi.yaml"}, "CONNECTOR_ANSWER_INVALID"),
        (
            "fetch_api_spec",
            {"specUrl": "docs/openapi.yaml", "operation": "shwPet"},
            "API_OPERATION_NOT_FOUND",
        ),
        ("fetch_api_spec", {"specUrl": "docs/openapi.yaml", "operation": "zzzz"}, "API_OPERATION_NOT_FOUND"),
    ],
)
def test_a_refusal_has_a_name_and_a_call_that_works(
    desk: Desk, verb: str, arguments: dict[str, str], code: str
) -> None:
    answer = desk.turn(verb, workId="w1", **arguments)
    assert answer.codes == [code], answer.text
    assert desk.send({**answer.suggestion, "workId": "w1"}).codes == []


def test_a_redirect_elsewhere_is_a_denial(desk: Desk, host: Host) -> None:
    answer = desk.turn("fetch_api_spec", specUrl=f"{host.url}/moved")
    assert answer.codes == ["HOST_NOT_ALLOWED"]
    assert "connectors.hosts" in answer.text


def test_connectors_are_off_by_default_and_files_work_without_them(tmp_path: Path) -> None:
    with open_desk(tmp_path, FILES) as desk:
        ticket = desk.turn("fetch_jira_ticket", ticketKey="PROJ-7")
        assert ticket.codes == ["CONNECTOR_OFF"] and "connectors.jira.base_url" in ticket.text
        address = desk.turn("fetch_api_spec", specUrl="https://example.com/api.json")
        assert address.codes == ["CONNECTOR_OFF"] and "connectors.hosts" in address.text
        assert address.suggestion == {"verb": "fetch_api_spec", "specUrl": "docs/openapi.yaml"}
        assert desk.turn("fetch_api_spec", specUrl="docs/openapi.yaml").codes == []
