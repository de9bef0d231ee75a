from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.facts import Occurrence
from codeplane.names import Index, Meaning
from codeplane.names.resolve import Resolver

APP = RepoPath("app.py")
FAR = Meaning(Tier.STRONG, (Place(RepoPath("far.py"), 0),), "elsewhere")


class Listening:
    """A source of meanings that has one answer, and knows what it was asked."""

    def __init__(self, answer: Meaning) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def meaning(self, _path: RepoPath, name: str, _seen: Occurrence) -> Meaning:
        self.asked.append(name)
        return self.answer


def meanings(index: Index, repo: Path, *others: Listening) -> dict[str, Meaning]:
    (repo / APP).write_text(
        "def known(): ...\nclass Whole:\n  def part(self): ...\nknown()\nvalue.open()\nWhole().part()\n"
    )
    index.refresh()
    with index.snapshot() as snapshot:

        class Structure:
            def meaning(self, path: RepoPath, name: str, seen: Occurrence) -> Meaning:
                return snapshot.meaning(path, name, seen)

        resolver = Resolver(Structure(), others)
        seen = snapshot.occurrences_inside(APP)
        return {name: resolver.meaning(APP, name, one) for name, one in seen if one.line > 3}


def test_a_second_source_is_asked_where_the_structure_is_not_sure(index: Index, repo: Path) -> None:
    found = meanings(index, repo, Listening(FAR))
    assert found["open"] == FAR


def test_nothing_is_certain_where_sources_disagree(index: Index, repo: Path) -> None:
    found = meanings(index, repo, Listening(FAR))
    assert found["part"] == Meaning(Tier.ANCHORED, (), "structure and elsewhere disagree")
    same = Listening(Meaning(Tier.STRONG, (Place(APP, 2),), "elsewhere"))
    agreed = meanings(index, repo, same)["part"]
    assert (agreed.tier, agreed.evidence) == (Tier.STRONG, "structure")


def test_what_scopes_bind_is_not_asked_about(index: Index, repo: Path) -> None:
    other = Listening(FAR)
    known = meanings(index, repo, other)["known"]
    assert (known.tier, known.evidence) == (Tier.PROVEN, "structure")
    assert "known" not in other.asked


def test_where_no_source_is_sure_the_structure_has_the_word(index: Index, repo: Path) -> None:
    unsure = Listening(Meaning(Tier.UNKNOWN, (), "elsewhere"))
    found = meanings(index, repo, unsure)
    assert (found["open"].tier, found["open"].evidence) == (Tier.ANCHORED, "structure")
    assert unsure.asked


def test_the_first_sure_source_wins(index: Index, repo: Path) -> None:
    second, third = Listening(FAR), Listening(FAR._replace(evidence="third"))
    assert meanings(index, repo, second, third)["open"].evidence == "elsewhere"
    assert third.asked == []
