"""Memories from the shell: listed, shown, decided about and exported, with and without a server."""

import http.client
import json
from contextlib import nullcontext
from typing import Any

import pytest

from codeplane.config.settings import MemorySettings
from codeplane.memory import MemoryStore
from codeplane.storage.state_db import open_state_db
from tests.drive import Cpl, Server, git
from tests.memory.samples import taught
from tests.zygote import PATIENCE


def teach(cpl: Cpl) -> str:
    """A memory in the repository's own store, made by friction."""
    database = open_state_db(cpl.repo / ".codeplane" / "state.db")
    try:
        return taught(MemoryStore(lambda: database, MemorySettings())).id
    finally:
        database.close()


@pytest.mark.parametrize("is_served", [False, True])
def test_a_person_decides_about_a_memory(cpl: Cpl, is_served: bool) -> None:
    assert cpl.run("init").returncode == 0
    with cpl.up("--set", "server.port=0") if is_served else nullcontext():
        assert cpl.run("memory", "list").stdout == "no memories\n"
        memory_id = teach(cpl)
        line = f"{memory_id} pending few_shot 3x src/app PLAN_VERIFICATION_WEAK\n"
        assert cpl.run("memory", "list").stdout == line
        assert cpl.run("memory", "list", "--state", "approved").stdout == "no memories\n"
        page = cpl.run("memory", "show", memory_id).stdout
        assert 'accepted: {"verificationHooks": ["tests/test_a.py"]}' in page
        assert "rests on src/app/a.py" in page and "created pending by controller" in page
        assert cpl.json("memory", "approve", memory_id, "--reason", "right")["state"] == "approved"
        again = cpl.run("memory", "approve", memory_id)
        assert again.returncode == 1 and "is approved and cannot be approved" in again.stderr
        assert "retired" in cpl.run("memory", "drop", memory_id).stdout
        changes = cpl.json("memory", "show", memory_id)["changes"]
        assert [(one["event"], one.get("newState"), one["reason"]) for one in changes[1:]] == [
            ("state", "approved", "right"),
            ("state", "retired", "dropped by a person"),
        ]
        friction = cpl.run("memory", "export", "friction").stdout.splitlines()
        assert [json.loads(entry)["rejectionCount"] for entry in friction] == [1, 2, 3]
    assert git(cpl.repo, "status", "--porcelain", "--", "src") == ""


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("show",), 2, "cpl memory show MEMORY"),
        (("list", "x"), 2, "cpl memory list"),
        (("approve", "mem_000000000000"), 1, "There are no memories here"),
        (("show", "mem_1", "--reason", "x"), 2, "cpl memory show MEMORY"),
        (("export", "secrets"), 2, "cpl memory export"),
        (("bless", "mem_1"), 2, "bless"),
    ],
)
def test_a_wrong_call_says_the_right_one(
    cpl: Cpl, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    done = cpl.run("memory", *arguments)
    assert done.returncode == code and problem in done.stderr
    assert not (cpl.repo / ".codeplane").exists()


def test_a_server_lists_what_waits_for_a_person(cpl: Cpl) -> None:
    cpl.run("init")
    with cpl.up("--set", "server.port=0") as server:
        memory_id = teach(cpl)
        assert [one["id"] for one in pending(server)] == [memory_id]
        cpl.run("memory", "approve", memory_id)
        assert pending(server) == []


def pending(server: Server) -> list[dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", "/policies/pending", headers=server.headers)
    answer = connection.getresponse()
    assert answer.status == 200
    entries: list[dict[str, Any]] = json.loads(answer.read())["pending"]
    connection.close()
    return entries


def test_an_unknown_memory_names_the_nearest(cpl: Cpl) -> None:
    cpl.run("init")
    memory_id = teach(cpl)
    done = cpl.run("memory", "reject", memory_id[:-1])
    assert done.returncode == 1 and f"cpl memory show {memory_id}" in done.stderr
