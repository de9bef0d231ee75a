"""Runs one release of the official conformance suite and reads what it found."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@modelcontextprotocol/conformance"
RUN_SECONDS = 120

_RESULT_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
_COLOR = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True)
class Suite:
    """A release of the suite, at one protocol version.

    `--suite all` with a protocol version runs every scenario of that version, those that its
    requirement set does not score included. Scenarios of extensions belong to no version.
    """

    release: str
    protocol: str
    expected: Path

    def __str__(self) -> str:
        return f"{self.release}-at-{self.protocol}"


_HERE = Path(__file__).parent
FIRST = Suite("0.1.16", "2025-11-25", _HERE / "expected-0.1.16.yml")
HANDSHAKE = Suite("0.2.0-alpha.12", "2025-11-25", _HERE / "expected-2025-11-25.yml")
STATELESS = Suite("0.2.0-alpha.12", "2026-07-28", _HERE / "expected-2026-07-28.yml")
SUITES = [FIRST, HANDSHAKE, STATELESS]


@dataclass(frozen=True)
class Check:
    scenario: str
    id: str
    status: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.scenario}:{self.id}  {self.message}"


@dataclass(frozen=True)
class Report:
    suite: Suite
    exit_code: int
    verdict: str
    checks: list[Check]

    @property
    def scenarios(self) -> set[str]:
        return {check.scenario for check in self.checks}

    @property
    def hollow(self) -> set[str]:
        """Scenarios that found nothing to be right, or skipped a check."""
        succeeded = {check.scenario for check in self.checks if check.status == "SUCCESS"}
        skipped = {check.scenario for check in self.checks if check.status == "SKIPPED"}
        return (self.scenarios - succeeded) | skipped

    def __str__(self) -> str:
        bad = [str(check) for check in self.checks if check.status in ("FAILURE", "WARNING")]
        return "\n".join([f"{self.suite}: exit code {self.exit_code}", *bad, self.verdict])


class Cli:
    def __init__(self, node: Path, package: Path) -> None:
        self._command = [str(node), str(package / "dist" / "index.js")]

    def run(self, suite: Suite, url: str, results: Path) -> Report:
        done = self._call(
            "server",
            f"--url={url}",
            "--suite=all",
            f"--spec-version={suite.protocol}",
            f"--expected-failures={suite.expected}",
            f"--output-dir={results}",
        )
        return Report(suite, done.returncode, _verdict(done.stdout), list(_checks(results)))

    def run_one(self, scenario: str, url: str, expected: Path) -> subprocess.CompletedProcess[str]:
        return self._call(
            "server", f"--url={url}", f"--scenario={scenario}", f"--expected-failures={expected}"
        )

    def required(self, protocol: str) -> set[str]:
        """The server scenarios that the suite's own requirement set scores."""
        printed = self._call("list", f"--requirements={protocol}").stdout
        servers = printed.partition("Server scenarios")[2].partition("\n\n")[0]
        return set(re.findall(r"^  - (\S+)$", servers, re.MULTILINE))

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, timeout=RUN_SECONDS
        )


def expected_failures(path: Path) -> dict[str, str]:
    """Each entry of an expected-failures file with the comment above it."""
    entries: dict[str, str] = {}
    comment: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        stripped = line.strip()
        if stripped.startswith("# "):
            comment.append(stripped.removeprefix("# "))
            continue
        if stripped.startswith("- "):
            entries[stripped.removeprefix("- ")] = " ".join(comment)
        comment = []
    return entries


def _verdict(stdout: str) -> str:
    """What the suite says about the expected failures, which follows its summary."""
    return _COLOR.sub("", stdout).partition("\nTotal: ")[2]


def _checks(results: Path) -> Iterator[Check]:
    for file in sorted(results.glob("*/checks.json")):
        folder = _RESULT_FOLDER.fullmatch(file.parent.name)
        assert folder is not None, f"BUG: {file.parent.name} names no scenario"
        for check in json.loads(file.read_text(encoding="utf-8")):
            message = check.get("errorMessage") or check["description"]
            yield Check(folder["scenario"], check["id"], check["status"], message)
