"""Whatever is found in the place of the ledger, the server starts, says what it set aside, and records."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import StateUnusable
from codeplane.ledger import History, Ledger
from codeplane.ledger.ledger import operation_entry
from tests.ledger.making import operation, small_ledger
from tests.ledger.test_chain import tampered
from tests.zygote import ROOT


def opened(directory: Path) -> Ledger:
    return Ledger.open(directory, LedgerSettings())


def filled(directory: Path) -> Path:
    ledger = opened(directory)
    ledger.append([operation_entry(operation(f"old_{n}")) for n in range(40)])
    ledger.close()
    return directory / "000001.db"


def with_link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


def with_linked_log(file: Path) -> None:
    file.with_name("target").write_bytes(b"")
    file.with_name(f"{file.name}-wal").symlink_to("target")


def with_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def with_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    at = data.index(b"old_20")
    data[at] ^= 1
    file.write_bytes(bytes(data))


def with_other_tables(file: Path) -> None:
    file.unlink()
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE row (number, kind, task, id, body, hash)")
    other.close()


HARMS: dict[str, Callable[[Path], object]] = {
    "cut to a page": lambda file: file.write_bytes(file.read_bytes()[:4096]),
    "cut within a page": lambda file: file.write_bytes(file.read_bytes()[:-1000]),
    "empty": lambda file: file.write_bytes(b""),
    "not a database": lambda file: file.write_bytes(b"no database" * 999),
    "zeros": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "a bit of a row flipped": flipped,
    "a link": with_link,
    "a linked log": with_linked_log,
    "a pipe": with_pipe,
    "a directory": with_directory,
    "other tables": with_other_tables,
    "a row changed": lambda file: tampered(file, "UPDATE row SET task = 'x' WHERE number = 9"),
    "the last row removed": lambda file: tampered(file, "DELETE FROM row WHERE number = 41"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_what_is_no_segment_is_set_aside_and_told(directory: Path, harm: Callable[[Path], object]) -> None:
    harm(filled(directory))
    ledger = opened(directory)
    number = ledger.record(operation("new"))
    assert number > 41
    assert [o.operation_id for o in ledger.operations()] == ["new"]
    assert any("000001.damaged-1.db" in told for told in ledger.all_problems())
    assert any("000001.damaged-1.db" in told for told in ledger.verify())
    ledger.close()
    again = opened(directory)
    assert again.find(operation("new").operation_id) is not None and len(again.all_problems()) == 1
    again.close()


def test_damage_in_an_old_segment_leaves_the_others(directory: Path) -> None:
    ledger = small_ledger(directory)
    for n in range(6):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    (directory / "000003.db").write_bytes(b"no database" * 999)
    ledger = small_ledger(directory)
    ledger.record(operation("op_6"))
    assert [o.operation_id for o in ledger.operations()] == [f"op_{n}" for n in (6, 5, 4, 3, 1, 0)]
    [told] = ledger.verify()
    assert told.startswith("000003.damaged-1.db")
    ledger.close()


def test_a_segment_that_breaks_while_it_is_open_is_left_for_another(directory: Path) -> None:
    ledger = opened(directory)
    ledger.record(operation("old"))
    for file in directory.iterdir():
        file.write_bytes(b"\xff" * 8192)
    ledger.record(operation("new"))
    assert [o.operation_id for o in ledger.operations()] == ["new"]
    ledger.close()
    assert opened(directory).find(operation("new").operation_id) is not None


def test_damage_is_reported_by_readers_and_changed_by_none(directory: Path) -> None:
    file = filled(directory)
    file.write_bytes(b"no database" * 999)
    history = History(directory)
    assert history.operations() == [] and "000001.db" in history.problems[0]
    assert [path.name for path in directory.iterdir()] == ["000001.db"]


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("/nowhere"), os.mkfifo])
def test_what_is_no_directory_is_set_aside(directory: Path, make: Callable[[Path], object]) -> None:
    make(directory)
    ledger = opened(directory)
    ledger.record(operation("new"))
    assert ledger.find(operation("new").operation_id) is not None
    assert "was set aside" in ledger.all_problems()[0]
    ledger.close()


def test_a_planted_row_of_the_wrong_kind_is_passed_over(directory: Path) -> None:
    ledger = small_ledger(directory)
    for n in range(4):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    wrong = """UPDATE row SET body = '{"timestamp_ms": "soon", "changes": 7}' WHERE kind = 'operation'"""
    tampered(directory / "000002.db", wrong)
    history = History(directory)
    assert [o.operation_id for o in history.operations()] == ["op_3", "op_2", "op_0"]
    assert history.digests()


def test_a_full_disk_is_an_error_and_leaves_nothing_half(directory: Path) -> None:
    ledger = opened(directory)
    ledger.record(operation("op_0"))
    more = [operation_entry(operation(f"more_{n}")) for n in range(99)]
    with sqlite3.connect(directory / "000001.db") as connection:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
    connection.close()
    assert ledger._current is not None
    with ledger._current[1].read() as own:
        own.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateUnusable, match="no space left"):
        ledger.append(more)
    assert ledger.verify() == [] and len(ledger.operations(limit=200)) == 1
    with ledger._current[1].read() as own:
        own.execute("PRAGMA max_page_count = 1000000")
    ledger.append(more)
    assert ledger.verify() == [] and len(ledger.operations(limit=200)) == 100
    ledger.close()


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(at=st.floats(0, 0.9999), bit=st.integers(0, 7), keep=st.none() | st.floats(0, 1))
def test_any_flipped_bit_or_cut_is_survived(
    tmp_path_factory: pytest.TempPathFactory, at: float, bit: int, keep: float | None
) -> None:
    directory = tmp_path_factory.mktemp("flip") / "ledger"
    file = filled(directory)
    data = bytearray(file.read_bytes())
    data[int(len(data) * at)] ^= 1 << bit
    file.write_bytes(bytes(data if keep is None else data[: int(len(data) * keep)]))
    ledger = opened(directory)
    ledger.record(operation("new"))
    told = [o.operation_id for o in ledger.operations(limit=100)]
    assert told[0] == "new"
    # Either the flip hit nothing that counts, or the segment is out of the way.
    assert len(told) == 41 or (told == ["new"] and ledger.all_problems())
    ledger.close()


LIMITED = """
import resource, sys
from pathlib import Path
from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import StateUnusable
from codeplane.ledger import Ledger
from tests.ledger.making import operation

SOFT, HARD = resource.getrlimit(resource.RLIMIT_FSIZE)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, HARD))

ledger = Ledger.open(Path(sys.argv[1]), LedgerSettings())
limit(120_000)
done = 0
try:
    while done < 500:
        ledger.record(operation(f"op_{done}"))
        done += 1
except StateUnusable:
    limit(SOFT)
assert 0 < done < 500
assert ledger.verify() == [] and len(ledger.operations(limit=999)) == done
ledger.record(operation("after"))
assert ledger.verify() == [] and len(ledger.operations(limit=999)) == done + 1
ledger.close()
"""


def test_a_limit_of_the_system_is_an_error_and_leaves_nothing_half(directory: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
