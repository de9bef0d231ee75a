"""A call of something unknown unpacks a mapping that may have the name of the parameter: `f(**options)`."""

from collections.abc import Iterator

from codeplane.refactor.occurrences.splats import Keys, UnresolvedSplats
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk
from codeplane.refactor.variables import bare


@risk(
    kinds=("splat",),
    subject="parameter",
    order=185,
    applies=lambda spec: bool(spec.renaming.key_patterns),
)
def find(question: Question) -> Iterator[Problem]:
    """The first call that may give the parameter by name, where the name is a key somewhere."""
    snapshot, names = question.snapshot, question.names
    name, units = bare(names.name), {snapshot.unit_of(place.path) for place in names.functions}
    keys = Keys(snapshot, units)
    splats = UnresolvedSplats(snapshot, names, keys)
    for path in splats.paths() if units else ():
        is_near = snapshot.unit_of(path) in units and snapshot.facts(path) is not None
        if is_near and (line := next(splats.lines(path), None)) is not None:
            key_lines = keys.lines(name)
            key_path = path if path in key_lines else min(key_lines)
            text = f"This call may pass `{name}` by name: it is a key at {key_path}:{key_lines[key_path][0]}."
            yield Problem("splat", text, path, line)
            return
