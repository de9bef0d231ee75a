"""Forgeries of accepted plans: each is the plan with evidence that is not true any more."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from codeplane.controller.evidence import EvidenceRecord

OLD_DIGEST = "0" * 64


def forgeries(
    plan: Mapping[str, Any], records: Sequence[EvidenceRecord], unread_file: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A plan in its short form with its evidence forged in each way, one node at a time."""
    by_handle = {record.handle: record for record in records}
    for number, node in enumerate(plan["nodes"]):
        for at, citation in enumerate(node.get("evidence", ())):
            record = by_handle.get(citation) if isinstance(citation, str) else None
            if record is None or record.category == "requirement":
                continue
            path = record.source
            for name, forged in (
                ("a file that was never read", f"{unread_file}:1-2"),
                ("lines beyond the end", f"{path}:90001-90002"),
                ("lines of another place", {"ref": record.handle, "lines": [record.last_line + 1] * 2}),
                ("an old digest", {"ref": record.handle, "digest": OLD_DIGEST}),
                ("an invented handle", f"ev_{'f' * 10}"),
                ("an invented quote", {"ref": record.handle, "quote": "there is no such text here"}),
                ("the run's own scratch", ".codeplane/work/w_1/scratch/proof.md:1-2"),
                ("a file that is not there", f"{path}.gone:1-2"),
            ):
                yield name, _with_citation(plan, number, at, forged)
            yield "one source twice", _with_evidence(plan, number, [citation, path + f":{record.first_line}"])
            yield "the prompt twice", _with_evidence(plan, number, ["prompt", "prompt"])


def _with_citation(plan: Mapping[str, Any], number: int, at: int, citation: Any) -> dict[str, Any]:
    forged = deepcopy(dict(plan))
    forged["nodes"][number]["evidence"][at] = citation
    return forged


def _with_evidence(plan: Mapping[str, Any], number: int, evidence: list[Any]) -> dict[str, Any]:
    forged = deepcopy(dict(plan))
    forged["nodes"][number]["evidence"] = evidence
    return forged
