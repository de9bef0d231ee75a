"""Routes composed over the mounts that lead to them, from a root down."""

from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.routes import Endpoint, Mount, Route, Step, joined_route
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.values import Evaluator, Thing

_MOST_CHAINS: Final = 50
_DEEPEST: Final = 12


class Composition:
    """The mounts of one framework."""

    def __init__(
        self, evaluator: Evaluator, rule: Rule, mounts: Sequence[Mount], dynamic: dict[RepoPath, int]
    ) -> None:
        self._arguments, self._rule, self._mounts = Arguments(evaluator), rule, mounts
        self.dynamic = dynamic

    def endpoints(self, route: Route) -> Iterator[Endpoint]:
        chains = list(self._chains(route.owner, route.type_name, 0))[:_MOST_CHAINS]
        is_lone = not chains
        for chain, is_conditional in chains or [((), False)]:
            own = "" if chain else self._own_prefix(route.owner, route.type_name)
            prefix = "".join(step.prefix for step in chain) if chain else own
            if prefix is None:
                self.dynamic[route.path] = self.dynamic.get(route.path, 0) + 1
                return
            mounted = (
                "never seen"
                if is_lone
                else "conditional"
                if is_conditional or route.is_conditional
                else "always"
            )
            tier = Tier.ANCHORED if route.owner.is_declared else Tier.STRONG
            for method in route.methods:
                yield Endpoint(
                    method,
                    joined_route(prefix, route.text),
                    route.path,
                    route.line,
                    self._rule.framework,
                    tier,
                    route.handler,
                    route.handler_line,
                    tuple(step for step in chain if step.line),
                    mounted,
                )

    def _own_prefix(self, owner: Thing, kind: str) -> str | None:
        rule = self._rule.types[kind]
        if not rule.prefix or owner.made_by is None:
            return ""
        texts = self._arguments.texts(owner.made_by, rule.prefix)
        return texts[0] if texts is not None and len(texts) == 1 else None

    def _chains(self, owner: Thing, kind: str, depth: int) -> Iterator[tuple[tuple[Step, ...], bool]]:
        """The ways from a root down to an object: the mounts with their prefixes, the object's own last."""
        if depth > _DEEPEST:
            return
        own = self._own_prefix(owner, kind)
        if self._rule.types[kind].root and own is not None:
            yield (Step(RepoPath(""), 0, own),), False
        for mount in self._mounts:
            # Routes that a factory adds belong to every object that it makes.
            own = self._own_prefix(mount.child, kind) if _is_same(mount.child, owner) else None
            if own is None:
                continue
            step, own_step = mount.step, Step(RepoPath(""), 0, own)
            for chain, is_conditional in self._chains(mount.parent, mount.parent_type, depth + 1):
                last = () if mount.overrides else (own_step,)
                yield (*chain, step, *last), is_conditional or mount.is_conditional


def _is_same(child: Thing, owner: Thing) -> bool:
    """Whether a mounted object is the one that a route was added to, or one of those that a factory makes."""
    if child.origin is None or owner.origin is None or child.origin[:2] != owner.origin[:2]:
        return False
    return not owner.origin.within or child.origin.within == owner.origin.within
