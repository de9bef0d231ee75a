"""The comparison where pieces of text come and go, and all names beside them have to mean what they did."""

from collections.abc import Collection, Iterator, Mapping

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Codebase, FileFacts
from codeplane.refactor.plan import Problem, Site
from codeplane.refactor.proof.comparison import Comparison, Part, around, describe_places, inside
from codeplane.refactor.text import Lines


class Rewritten(Comparison):
    """Compares files that have other text at some sites: what stands beside it has to mean the same."""

    def __init__(
        self,
        before: Codebase,
        after: Codebase,
        words: Collection[str],
        sites: Mapping[RepoPath, Collection[Site]],
    ) -> None:
        super().__init__(before, after, words)
        self._sites = sites

    def differences(self, part: Part, was: FileFacts, _is_now: FileFacts) -> Iterator[Problem]:
        """Names beside the sites that are others, or one of the words that means something else."""
        path = part.old
        spans = around(Lines(self.before.source(path)), self._sites.get(path, ()))
        before, after = (code.all_occurrences(path) for code in (self.before, self.after))
        pairs = [inside(span, one) for span, one in zip(spans, (before, after), strict=True)]
        names = [
            [one.texts[one.names[at]] for at in numbers]
            for one, numbers in zip((before, after), pairs, strict=True)
        ]
        if names[0] != names[1]:
            yield Problem("syntax", f"{shown(path)} would have other names in it beside what changes.", path)
            return
        concerned = self.named(was, before)
        for old, new, name in zip(*pairs, names[0], strict=True):
            if old not in concerned:
                continue
            meant = self.before.structural_meaning(path, name, before.at(old))
            means = self.after.structural_meaning(path, name, after.at(new))
            if (meant.tier, meant.target) != (means.tier, means.target):
                targets = (describe_places(place.path for place in one.target) for one in (means, meant))
                text = "`{}` would mean {} instead of {}.".format(name, *targets)
                yield Problem("binding", text, path, before.at(old).line)
