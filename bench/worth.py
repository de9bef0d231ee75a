"""What the open places of renames are worth, by risk: how many are meant, and what comes of leaving them out.

A place is true where the language server calls it a reference, or where the suite fails without it and passes
with it. A doubt has no place: it is true where the suite fails with the certain part alone and no place
explains that. What takes long is kept in `.cache/renames`.
"""

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpora import CACHE, python_package
from bench.rename import SEED, Bench, copied, drawn
from bench.rename_corpora import PACKAGES
from bench.renamers import Spot, planned
from bench.suites import Kept, Trial, pytest
from codeplane.refactor import Plan, Verdict
from codeplane.refactor.rename import with_groups
from codeplane.refactor.subject import Subject

OF_A_KIND = 2
# Packages that no rule was made for: name, version, directory of the tests.
FRESH = (
    ("jinja2", "3.1.6", "tests"),
    ("w3lib", "2.3.1", "tests"),
    ("cssselect", "1.3.0", "tests"),
    ("blinker", "1.9.0", "tests"),
    ("transitions", "0.9.3", "tests"),
    ("anytree", "2.13.0", "tests"),
    ("webob", "1.8.9", "tests"),
    ("structlog", "25.4.0", "tests"),
    ("humanize", "4.12.3", "tests"),
    ("markdown", "3.8.2", "tests"),
    ("tabulate", "0.9.0", "test"),
)


@dataclass
class Worth:
    """Places and doubts by risk, and the symbols that they kept from being done at once."""

    true: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    doubts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    outcomes: Counter[str] = field(default_factory=Counter)


def weighed(
    bench: Bench, trial: Trial, drawn_from: list[tuple[str, Subject]], worth: Worth
) -> Iterator[dict[str, object]]:
    """One row for each symbol, with all that was open about it."""
    for number, (kind, subject) in enumerate(drawn_from):
        new = f"renamed_{number}"
        plan = planned(bench.session, subject, new)
        row: dict[str, object] = {"kind": kind, "symbol": plan.symbol, "outcome": plan.verdict}
        row["problems"] = [one.text for one in plan.problems]
        if plan.verdict in (Verdict.OK, Verdict.NEEDS_DECISION) and plan.change.edits.edits:
            said = bench.said(kind, subject, new)
            row |= _judged(bench, trial, plan, said, worth)
        else:
            worth.outcomes[plan.verdict] += 1
        yield row


def _judged(bench: Bench, trial: Trial, plan: Plan, said: set[Spot], worth: Worth) -> dict[str, object]:
    broken = trial.broken(_files(plan))
    lines = {one[:2] for one in said}
    needed = list(_needed(bench, trial, plan)) if broken else []
    groups = []
    for group in plan.groups:
        true = [one for one in group.sites if (one.path, one.line) in lines or group.id in needed]
        for reason in group.reasons:
            key = reason if group.asks else f"{reason}, told"
            worth.true[key] += len(true)
            worth.false[key] += len(group.sites) - len(true)
        told = [f"{one.path}:{one.line}:{one.column} {one in true}" for one in group.sites]
        groups.append({"about": group.about, "reasons": group.reasons, "asks": group.asks, "sites": told})
    for key in {one.kind if one.asks else f"{one.kind}, told" for one in plan.notes}:
        worth.doubts[key]["true" if broken and not needed else "harmless"] += 1
    worth.outcomes[plan.verdict if not broken else f"{plan.verdict}, breaks the suite"] += 1
    sites = {(one.path, one.line) for one in plan.sites}
    shown = sites | {(one.path, one.line) for group in plan.groups for one in group.sites}
    return {
        "broken": broken,
        "needed": needed,
        "groups": groups,
        "notes": [f"{one.kind} {one.asks} {one.path}:{one.line} {one.text}" for one in plan.notes],
        "missed": sorted(f"{one[0]}:{one[1]}" for one in lines - sites),
        "hidden": sorted(f"{one[0]}:{one[1]}" for one in lines - shown),
    }


def _needed(bench: Bench, trial: Trial, plan: Plan) -> Iterator[str]:
    """The groups without which the suite fails, where it passes with all of them."""
    every = [group.id for group in plan.groups]
    if not every or _breaks(bench, trial, plan, every):
        return
    for one in every:
        if _breaks(bench, trial, plan, [other for other in every if other != one]):
            yield one


def _breaks(bench: Bench, trial: Trial, plan: Plan, selected: list[str]) -> int:
    with bench.session.index.snapshot() as snapshot:
        made = with_groups(snapshot, plan, selected)
    return trial.broken(_files(made))


def _files(plan: Plan) -> dict[str, bytes]:
    return {edit.path: edit.after for edit in plan.change.edits.edits if edit.after is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", help="names of packages; fresh ones where none is given")
    parser.add_argument("--symbols", type=int, default=OF_A_KIND, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rows", type=Path, help="file for one line of JSON for each symbol")
    args = parser.parse_args()
    worth = Worth()
    known = (*PACKAGES, *FRESH) if args.packages else FRESH
    for name, version, tests in (one for one in known if not args.packages or one[0] in args.packages):
        with tempfile.TemporaryDirectory(prefix="cpl-") as base:
            root = copied(python_package(name, version), Path(base))
            kept = Kept(CACHE.parent / "renames" / f"{name}-{version}.jsonl")
            trial = Trial(root, Path(base) / "trial", pytest(tests), kept)
            with Bench(root, trial, kept, ()) as bench:
                for row in weighed(bench, trial, drawn(bench.session, args.symbols, args.seed), worth):
                    if args.rows:
                        with args.rows.open("a") as out:
                            out.write(json.dumps({"package": name, **row}) + "\n")
        print(f"{name}: {dict(worth.outcomes)}", flush=True)
    print(f"{'risk':<24} {'true':>6} {'false':>6}")
    for reason in sorted(worth.true | worth.false):
        print(f"{reason:<24} {worth.true[reason]:>6} {worth.false[reason]:>6}")
    print(f"{'doubt':<24} {'true':>6} {'harmless':>8}")
    for kind, found in sorted(worth.doubts.items()):
        print(f"{kind:<24} {found['true']:>6} {found['harmless']:>8}")


if __name__ == "__main__":
    main()
