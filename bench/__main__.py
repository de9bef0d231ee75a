"""`make bench`: every measurement of this folder; exit code 1 when a bound does not hold."""

import os
import platform
import sys
from importlib import import_module

BENCHES = (
    "startup",
    "overhead",
    "memory",
    "reconcile",
    "extract",
    "cold",
    "switch",
    "edits",
    "search",
    "graph",
    "diff",
    "git",
    "testrun",
    "economy",
    "sizes",
    "daily",
    "rename",
    "refactor_speed",
    "impact",
    "builds",
    "oracle",
)


def main() -> None:
    chosen = sys.argv[1:] or BENCHES
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    missed = 0
    for name in chosen:
        for figure in import_module(f"bench.{name}").figures():
            bound = "shown" if figure.bound is None else f"≤ {figure.bound:g} {figure.unit}"
            value = f"{figure.value:>8.2f} {figure.unit:<3}"
            verdict = "" if figure.holds else "  MISSED"
            print(f"{figure.name:<30} {value} {bound:<10} {figure.detail}{verdict}", flush=True)
            missed += not figure.holds
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
