"""Routes composed over the mounts that lead to them, from a root down."""

from collections.abc import Iterator, Set
from itertools import islice
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.routes import Collected, Endpoint, Mount, Route, Step, joined_parts, joined_route
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.values import Evaluator, Origin, Thing

_MOST_CHAINS: Final = 50
_DEEPEST: Final = 12


class Chain(NamedTuple):
    """A way down to an object, from a root where there is one."""

    steps: tuple[Step, ...]
    is_conditional: bool = False
    is_rooted: bool = False
    top: Origin | None = None


class Composition:
    """The mounts of one framework."""

    def __init__(
        self, evaluator: Evaluator, rule: Rule, collected: Collected, roots: Set[RepoPath] = frozenset()
    ) -> None:
        self._arguments, self._rule, self._roots = Arguments(evaluator), rule, roots
        self._collected = collected
        self._mounts: dict[tuple[RepoPath, int], list[Mount]] = {}
        for mount in collected.mounts:
            if mount.child.origin is not None:
                self._mounts.setdefault(mount.child.origin[:2], []).append(mount)
        self._chains_of: dict[tuple[Origin | None, str], list[Chain]] = {}

    def endpoints(self, route: Route) -> Iterator[Endpoint]:
        """The endpoints of a route: one for each way that leads to it."""
        key = (route.owner.origin, route.type_name)
        chains = self._chains_of.get(key)
        if chains is None or route.owner.origin is None:
            chains = list(islice(self._chains(route.owner, route.type_name, 0), _MOST_CHAINS))
            chains = [chain for chain in chains if chain.is_rooted] or chains
            self._chains_of[key] = chains
        if not chains:
            self._collected.site = None
            self._collected.count_dynamic(route.path)
        self._collected.site = (route.path, -1 - route.line)  # one route, however many ways lead to it
        for chain in chains:
            if not chain.is_rooted and chain.top is not None and chain.top[:2] in self._collected.pathless:
                self._collected.count_dynamic(route.path)
            else:
                yield from self._along(route, chain)

    def _along(self, route: Route, chain: Chain) -> Iterator[Endpoint]:
        is_conditional = chain.is_conditional or route.is_conditional
        mounted = "never seen" if not chain.is_rooted else "conditional" if is_conditional else "always"
        prefixes = [step.prefix for step in chain.steps]
        path = (
            joined_parts(*prefixes, route.text)
            if self._rule.join == "slash"
            else joined_route("".join(prefixes), route.text)
        )
        for method in route.methods:
            yield Endpoint(
                method,
                path,
                route.path,
                route.line,
                self._rule.types[route.type_name].framework or self._rule.framework,
                Tier.ANCHORED if route.owner.is_declared else Tier.STRONG,
                route.handler,
                route.handler_line,
                tuple(step for step in chain.steps if step.line),
                mounted,
            )

    def _own_prefix(self, owner: Thing, kind: str) -> str | None:
        rule = self._rule.types[kind]
        if owner.origin is not None and owner.origin[:2] in self._collected.prefixes:
            return self._collected.prefixes[owner.origin[:2]]
        if not rule.prefix or owner.made_by is None:
            return ""
        call = self._arguments.evaluator.base_call(owner)
        texts = self._arguments.texts(call, rule.prefix) if call is not None else None
        return texts[0] if texts is not None and len(texts) == 1 else None

    def _chains(self, owner: Thing, kind: str, depth: int) -> Iterator[Chain]:
        """The ways down to an object: the mounts with their prefixes, the object's own last."""
        if depth > _DEEPEST:
            return
        origin = owner.origin
        above = [
            mount
            for mount in (self._mounts.get(origin[:2], ()) if origin is not None else ())
            if _is_same(mount.child, owner)
        ]
        own = self._own_prefix(owner, kind)
        is_hidden = origin is not None and origin[:2] in self._collected.pathless
        is_root = self._rule.types[kind].root and not above and not is_hidden
        is_root |= origin is not None and origin.start < 0 and origin.path in self._roots
        if (is_root or not above) and own is not None:
            yield Chain((Step(RepoPath(""), 0, own),), is_rooted=is_root, top=origin)
        for mount in above:
            # Routes that a factory adds belong to every object that it makes.
            own = self._own_prefix(mount.child, kind)
            if own is None:
                continue
            last = () if mount.overrides else (Step(RepoPath(""), 0, own),)
            for chain in self._chains(mount.parent, mount.parent_type, depth + 1):
                yield Chain(
                    (*chain.steps, mount.step, *last),
                    chain.is_conditional or mount.is_conditional,
                    chain.is_rooted,
                    chain.top,
                )


def _is_same(child: Thing, owner: Thing) -> bool:
    """Whether a mounted object is the one that a route was added to, or one of those that a factory makes.

    Of an object in a class, one side may know the instance where the other one knows the class alone.
    """
    if child.origin is None or owner.origin is None or child.origin[:2] != owner.origin[:2]:
        return False
    inner, outer = child.origin.within, owner.origin.within
    return all(one == other for one, other in zip(inner, outer, strict=False))
