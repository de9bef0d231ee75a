"""Endpoints of Rails applications against the routes that Rails itself draws.

Needs `ruby` with actionpack (Debian: `ruby-actionpack`). Routes that libraries add are in neither.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.corpora import indexed, repository_at
from bench.surfaces_openapi import plain_path
from codeplane.names import Snapshot
from codeplane.surfaces.endpoints import Endpoint, endpoints_of
from codeplane.surfaces.exclusion import is_of_tests

LEAST_PRECISION, LEAST_RECALL = 0.99, 0.95
SCRIPT = Path(__file__).parent / "rails_routes.rb"


class Application(NamedTuple):
    name: str
    repository: str
    commit: str


APPLICATIONS = (Application("mastodon", "mastodon/mastodon", "2f40549d41d77bd4941214e1915074d2e9113b80"),)


def drawn(root: Path) -> list[tuple[str, str, str]]:
    """The routes that Rails makes of a repository."""
    command = ["ruby", str(SCRIPT), str(root)]
    output = subprocess.run(command, check=True, capture_output=True, timeout=120).stdout
    return [
        (verb, plain_path(path), target)
        for verbs, path, target in json.loads(output)["routes"]
        for verb in verbs.split("|")
    ]


def action(snapshot: Snapshot, one: Endpoint) -> str:
    """The handler as `controller#action`."""
    if one.handler is None:
        return ""
    definition = snapshot.definition(one.handler)
    controller = one.handler.path.rpartition("controllers/")[2].removesuffix("_controller.rb")
    return f"{controller}#{definition.name}" if definition.kind == "method" else f"{controller}#"


def compare(application: Application) -> bool:
    """Prints one application's figures; whether they are as good as they have to be."""
    root = repository_at(application.repository, application.commit)
    rows = drawn(root)
    with indexed(root) as index, index.snapshot() as snapshot:
        started = time.process_time()
        surface = endpoints_of(snapshot)
        first_ms = (time.process_time() - started) * 1000
        mine = [
            one for one in surface.endpoints if one.framework == "rails" and not is_of_tests(snapshot, one)
        ]
        answers = [(one.method, plain_path(one.route), action(snapshot, one), one.mounted) for one in mine]
        dynamic = sum(surface.dynamic.values())
    expected = {(verb, path) for verb, path, _ in rows}
    answered = {(verb, path) for verb, path, _, _ in answers}
    judged = {(verb, path) for verb, path, _, mounted in answers if mounted == "always"}
    wrong, misses = sorted(judged - expected), sorted(expected - answered)
    targets: dict[tuple[str, str], set[str]] = {}
    for verb, path, target in rows:
        targets.setdefault((verb, path), set()).add(target)
    named = [(verb, path, name) for verb, path, name, _ in answers if name and (verb, path) in targets]
    right = [
        one
        for one in named
        if any(t == one[2] or (one[2].endswith("#") and t.startswith(one[2])) for t in targets[one[:2]])
    ]
    precision = 1 - len(wrong) / max(len(judged), 1)
    recall = 1 - len(misses) / max(len(expected), 1)
    print(
        f"{application.name}: {len(expected)} routes, precision {precision:.3f}, recall {recall:.3f}, "
        f"handlers {len(named) / max(len(answers), 1):.3f}, right {len(right) / max(len(named), 1):.3f}, "
        f"dynamic {dynamic}, first {first_ms:.0f} ms CPU"
    )
    for label, pairs in (("wrong", wrong), ("missed", misses)):
        for verb, path in pairs[:60]:
            print(f"  {label}: {verb} {path}")
    for one in [one for one in named if one not in right][:20]:
        print(f"  handler: {one} {targets[one[:2]]}")
    return precision >= LEAST_PRECISION and recall >= LEAST_RECALL


def main() -> int:
    wanted = sys.argv[1:]
    outcomes = [compare(one) for one in APPLICATIONS if not wanted or one.name in wanted]
    return int(not all(outcomes))


if __name__ == "__main__":
    sys.exit(main())
