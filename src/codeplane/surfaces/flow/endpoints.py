"""The endpoints of frameworks whose routers are values, composed over the mounts that lead to them."""

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.surfaces.flow.anchors import Anchor, Link
from codeplane.surfaces.flow.collect import Collector, FlowMount, FlowRoute
from codeplane.surfaces.flow.files import files_of
from codeplane.surfaces.flow.rule import FlowRule
from codeplane.surfaces.routes import Endpoint, Step, joined_route
from codeplane.surfaces.values import Environment, Evaluator, Located

_MOST_CHAINS: Final = 50
_DEEPEST: Final = 12
_NEVER_SEEN: Final = "never seen"


class Chain(NamedTuple):
    """A way down to a router."""

    prefix: str
    steps: tuple[Step, ...] = ()
    is_conditional: bool = False
    is_rooted: bool = False
    is_declared: bool = False
    frame: Environment = Environment()  # of the function that has made the router at the end


class FlowFramework:
    """The endpoints of one framework."""

    def __init__(self, evaluator: Evaluator, rule: FlowRule) -> None:
        self._evaluator, self._rule = evaluator, rule
        self._mounts: dict[tuple[str, RepoPath, int], list[FlowMount]] = {}
        self.dynamic: dict[RepoPath, int] = {}

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint of the framework."""
        paths = files_of(self._evaluator.code, self._rule)
        if not paths:
            return []
        collector = Collector(self._evaluator, self._rule, paths)
        collector.read()
        for mount in collector.mounts:
            self._mounts.setdefault(mount.child.base[:3], []).append(mount)
        endpoints = [one for route in collector.routes for one in self._of_route(route, collector)]
        self.dynamic = collector.dynamic
        mounted = {_where(one) for one in endpoints if one.mounted != _NEVER_SEEN}
        return [one for one in endpoints if one.mounted != _NEVER_SEEN or _where(one) not in mounted]

    def _of_route(self, route: FlowRoute, collector: Collector) -> Iterator[Endpoint]:
        chains = list(islice(self._chains(route.owner, 0), _MOST_CHAINS))
        chains = [chain for chain in chains if chain.is_rooted] or chains
        rows = [row for row in (self._endpoint(route, chain) for chain in chains) if row is not None]
        if not rows:
            collector.count_dynamic(route.path, route.line)
        for chain, text in rows:
            is_conditional = chain.is_conditional or route.is_conditional
            mount_state = (
                _NEVER_SEEN if not chain.is_rooted else "conditional" if is_conditional else "always"
            )
            is_declared = chain.is_declared or route.owner.is_declared
            for method in route.methods:
                yield Endpoint(
                    method,
                    text,
                    route.path,
                    route.line,
                    self._rule.framework,
                    Tier.ANCHORED if is_declared else Tier.STRONG,
                    route.handler,
                    route.handler_line,
                    chain.steps,
                    mount_state,
                )

    def _endpoint(self, route: FlowRoute, chain: Chain) -> tuple[Chain, str] | None:
        text = route.text
        if text is None and route.value is not None:
            text = self._late_text(route.value, chain.frame)
        if text is None or not self._may_follow(chain.prefix, text):
            return None
        return chain, self._joined(chain.prefix, text)

    def _may_follow(self, prefix: str, text: str) -> bool:
        """Whether a path can stand behind a prefix: a wildcard takes all that follows."""
        return not (self._rule.ends_at_wildcard and prefix.endswith("*") and text)

    def _joined(self, prefix: str, text: str) -> str:
        if self._rule.join == "path" and text and prefix:
            return joined_route(prefix.rstrip("/") + "/", text.lstrip("/"))
        if self._rule.join == "nest" and prefix.strip("/") and text == "/":
            return joined_route(prefix.rstrip("/"), "")
        return joined_route(prefix, text)

    def _chains(self, anchor: Anchor, depth: int) -> Iterator[Chain]:
        """The ways down to a router: through the mounts of the one that it is derived from."""
        if depth > _DEEPEST:
            return
        mounts = [one for one in self._mounts.get(anchor.base[:3], ()) if one.child.base.may_be(anchor.base)]
        if not mounts:
            is_root = anchor.base.kind == "default" or self._is_root(anchor)
            chain = Chain(
                "", is_rooted=is_root, is_declared=anchor.base.kind == "declared", frame=anchor.frame
            )
            below = self._below(chain, anchor)
            if below is not None:
                yield below
        for mount in mounts:
            for above in self._chains(mount.parent, depth + 1):
                step = self._mounted(above, mount)
                below = self._below(step, anchor) if step is not None else None
                if below is not None:
                    yield below

    def _is_root(self, anchor: Anchor) -> bool:
        """Whether a router serves that nothing is mounted above: by what it was in the beginning."""
        kind = self._rule.types[anchor.base.type_name]
        return kind.root and (anchor.base.kind != "declared" or not kind.new)

    def _mounted(self, above: Chain, mount: FlowMount) -> Chain | None:
        text = mount.text
        if text is None and mount.value is not None:
            text = self._late_text(mount.value, above.frame)
        if text is None or not self._may_follow(above.prefix, text):
            return None
        if self._rule.ends_at_wildcard:
            text = text.removesuffix("*")  # what is mounted stands in its place
        step = Step(mount.path, mount.line, text)
        return Chain(
            self._joined_prefix(above.prefix, text),
            (*above.steps, step),
            above.is_conditional or mount.is_conditional,
            above.is_rooted,
            above.is_declared or mount.parent.is_declared or mount.child.is_declared,
            mount.child.frame,
        )

    def _below(self, chain: Chain, anchor: Anchor) -> Chain | None:
        """The chain with the prefixes between a router and the one that it is derived from."""
        prefix, steps = chain.prefix, chain.steps
        for link in anchor.links:
            text = link.text if link.text is not None else self._late(link, chain.frame)
            if text is None or not self._may_follow(prefix, text):
                return None
            prefix = self._joined_prefix(prefix, text)
            if link.is_mount:
                steps = (*steps, Step(link.path, link.line, text))
        return chain._replace(
            prefix=prefix, steps=steps, is_conditional=chain.is_conditional or anchor.is_conditional
        )

    def _joined_prefix(self, prefix: str, text: str) -> str:
        if self._rule.join in ("path", "nest") and text:
            return f"{prefix.rstrip('/')}/{text.lstrip('/')}"
        return f"{prefix}{text}"

    def _late(self, link: Link, frame: Environment) -> str | None:
        return self._late_text(link.value, frame) if link.value is not None else None

    def _late_text(self, value: Located, frame: Environment) -> str | None:
        """A text that depends on the call that has made the router."""
        if not frame.values:
            return None
        return self._evaluator.text(Located(value.path, value.value, frame))


def _where(one: Endpoint) -> tuple[str, str, RepoPath, int]:
    return one.method, one.route, one.path, one.line
