"""`make bench`: every measurement of this folder; exit code 1 when a bound does not hold."""

import os
import platform
import subprocess
import sys
from importlib import import_module

from tests.conformance.node import Unavailable

BENCHES = (
    "startup",
    "overhead",
    "memory",
    "reconcile",
    "extract",
    "patterns",
    "cold",
    "shared_facts",
    "switch",
    "states",
    "workspaces",
    "edits",
    "hops",
    "search",
    "recon_lanes",
    "graph",
    "diff",
    "git",
    "testrun",
    "economy",
    "controller",
    "sizes",
    "daily",
    "rename",
    "refactor_speed",
    "impact",
    "builds",
    "oracle",
    "semantic",
    "html_selectors",
    "surfaces",
    "surfaces_cost",
    "feature_trace",
    "surfaces_openapi",
    "surfaces_rails",
    "operations_c",
    "call_sites",
    "operations_python",
    "operations_rust",
    "operations_javascript",
    "deltas",
    "annotate",
    "rust_plan",
    "javascript_plan",
)


def main() -> None:
    chosen = sys.argv[1:] or BENCHES
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    missed = sum(run(name) for name in chosen)
    sys.exit(1 if missed else 0)


def run(name: str) -> int:
    """Prints the figures of one measurement and returns how many miss their bound; what it needs and cannot
    be had on this machine is said, and the others go on."""
    missed = 0
    try:
        for figure in import_module(f"bench.{name}").figures():
            bound = "shown" if figure.bound is None else f"≤ {figure.bound:g} {figure.unit}"
            value = f"{figure.value:>8.2f} {figure.unit:<3}"
            verdict = "" if figure.holds else "  MISSED"
            print(f"{figure.name:<30} {value} {bound:<10} {figure.detail}{verdict}", flush=True)
            missed += not figure.holds
    except (Unavailable, subprocess.CalledProcessError, FileNotFoundError) as error:
        print(f"{name:<30} left out: {' '.join(str(error).split())[:200]}", flush=True)
    return missed


if __name__ == "__main__":
    main()
