"""The facts of a file are read part by part, and what one snapshot has read serves the next."""

from pathlib import Path

from codeplane.index.view.files import FileFacts
from codeplane.languages import extract
from codeplane.names import Index

SOURCE = """\
import os
from app import other as another

class Base:
    size = 1

    def go(self, step: int, *rest): ...

    @property
    def name(self): ...

    @name.setter
    def name(self, value): ...

def run(base: Base, size=2):
    size = base.go(size)
    again: Base = base
    return [again.name for again in (again,)]
"""


def facts_of(index: Index, path: str) -> FileFacts:
    with index.snapshot() as snapshot:
        facts = snapshot.facts(path)
        assert facts is not None
        return facts


def test_every_part_is_what_was_extracted(repo: Path, index: Index) -> None:
    (repo / "a.py").write_text(SOURCE)
    index.refresh()
    made = extract("python", SOURCE.encode())
    with index.snapshot() as snapshot:
        facts = snapshot.facts("a.py")
        assert facts is not None
        assert list(facts.binds) == [facts.binds[at] for at in range(len(facts.binds))] == made.binds
        assert list(facts.scopes) == made.scopes
        assert list(facts.definitions) == facts.definitions[:] == made.definitions
        assert (facts.imports, facts.receivers) == (made.imports, made.receivers)
        for bind in made.binds:
            alike = [one for one in made.binds if (one.scope, one.name) == (bind.scope, bind.name)]
            assert facts.named(bind.scope, bind.name) == (bind if len(alike) == 1 else None)
        names = [item.name for item in made.definitions if item.parent == 0]
        assert names.count("name") == 2
        assert [made.definitions[at].span.start_line for at in facts.inside(0, "name")] == [9]
        assert len(facts.group(facts.inside(0, "name")[0])) == 2


def test_what_one_snapshot_has_read_serves_the_next(repo: Path, index: Index) -> None:
    (repo / "a.py").write_text(SOURCE)
    index.refresh()
    first = facts_of(index, "a.py")
    assert "definitions" not in vars(first), "a part is read when it is asked for"
    with index.snapshot() as snapshot:
        second = snapshot.facts("a.py")
        assert second is not None
        assert second.definitions[0].name == "Base"
    assert first.definitions is second.definitions
