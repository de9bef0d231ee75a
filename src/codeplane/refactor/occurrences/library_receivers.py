"""Receivers that are modules of a library: what stands behind one is the library's own."""

from functools import cached_property

from codeplane.languages.facts import Reason, Role
from codeplane.names import Codebase, RefFact
from codeplane.names.meaning import is_external, known


class Libraries:
    """Tells which receivers are modules that are not in the repository."""

    def __init__(self, snapshot: Codebase) -> None:
        self._snapshot = snapshot
        self._answers: dict[tuple[str, int, str], bool] = {}

    def is_module(self, ref: RefFact) -> bool:
        """Whether a member is asked of a module of a library: `json.dumps`."""
        key = (ref.path, ref.scope, ref.receiver)
        if key not in self._answers:
            self._answers[key] = self._is_module(ref)
        return self._answers[key]

    def _is_module(self, ref: RefFact) -> bool:
        facts = self._snapshot.require_facts(ref.path)
        root = ref.receiver.partition(".")[0]
        if not facts.spec.reflection.modules_are_values or not root.isidentifier():
            return False
        at = self._snapshot.binding_at(facts, ref.scope, root)
        if at is None or at < 0 or facts.binds[at].reason is not Reason.IMPORT_ALIAS:
            return False
        items = [item for item in facts.imports if item.alias == root]
        is_bound = any(
            occurrence.role is Role.WRITE and not occurrence.receiver
            for occurrence in self._snapshot.occurrences(ref.path, root)
        )
        return (
            not is_bound
            and bool(items)
            and all(
                not item.name
                and ref.receiver in (item.alias, item.module)
                and self._is_outside(ref.path, item.module, item.kind)
                for item in items
            )
        )

    def _is_outside(self, path: str, module: str, kind: str) -> bool:
        target = known(self._snapshot.named_module(path, module, kind))
        is_here = bool(target) and not is_external(target)
        return not is_here and not module.startswith(".") and self._names.isdisjoint(module.split("."))

    @cached_property
    def _names(self) -> set[str]:
        """The names of all files and directories: a module may be found by any of them."""
        parts = (path.split("/") for path in self._snapshot.layout.blobs)
        return {part.partition(".")[0] for some in parts for part in some}
