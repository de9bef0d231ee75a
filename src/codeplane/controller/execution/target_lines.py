"""The lines of a file that a node is about: what is offered to be read is no longer than it has to be."""

from typing import Final

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.evidence.symbols import match_symbol
from codeplane.controller.execution.accepted import AcceptedPlan
from codeplane.core.errors import CodePlaneError
from codeplane.session import Call

_SHORT_FILE: Final = 80  # lines that are read whole
_AROUND: Final = 5
_LONGEST: Final = 200


def narrow_read(call: Call, plan: AcceptedPlan, action: SuggestedAction) -> SuggestedAction:
    """A read of a long file, narrowed to the symbols that a node may change there, as they stand now."""
    args = action.args or {}
    file = args.get("targetFile")
    if action.verb != Verb.READ_FILE_LINES or not isinstance(file, str) or len(args) > 1:
        return action
    names = {
        name
        for one in plan.of_kind("change")
        if one.node.target_file == file
        for name in one.node.target_symbols
    }
    try:
        path = call.repo.tree.jail.enter(file)
        with call.snapshot() as snapshot:
            fact = snapshot.file(path)
            matches = [match for name in names for match in match_symbol(snapshot, path, name)]
    except CodePlaneError:
        return action
    if fact is None or fact.lines <= _SHORT_FILE or not matches:
        return action
    first = max(1, min(match.first_line for match in matches) - _AROUND)
    last = min(fact.lines, max(match.last_line for match in matches) + _AROUND)
    if last - first >= _LONGEST:
        return action
    return action.model_copy(update={"args": {**args, "startLine": first, "endLine": last}})
