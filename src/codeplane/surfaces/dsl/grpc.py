"""Methods of gRPC services: each is served under `/package.Service/Method`."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.values import Evaluator

_PACKAGE: Final = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HTTP: Final = re.compile(r"\b(get|put|post|delete|patch)\s*:\s*\"(/[^\"\n]*)\"")
_OPTION: Final = "google.api.http"


class Grpc:
    """The methods of the services in `.proto` files, and the paths that they are transcoded to."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self.dynamic: dict[RepoPath, int] = {}

    def endpoints(self) -> list[Endpoint]:
        """Every method of every service."""
        return [
            one
            for path in sorted(self._code.paths_with_any(["rpc"]))
            if (facts := self._code.facts(path)) is not None and facts.language == "proto"
            for one in self._of_file(path)
        ]

    def _of_file(self, path: RepoPath) -> Iterator[Endpoint]:
        facts = self._code.require_facts(path)
        source = self._code.source(path)
        package = _PACKAGE.search(_COMMENT.sub(" ", source.decode("utf-8", "replace")))
        head = f"{package[1]}." if package else ""
        for number, item in enumerate(facts.definitions):
            if item.kind != "rpc" or item.parent < 0:
                continue
            place = Place(path, number)
            service = facts.definitions[item.parent].name
            yield self._endpoint("RPC", f"/{head}{service}/{item.name}", "grpc", place)
            first, last = self._evaluator.byte_span(path, item.span)
            text = _COMMENT.sub(" ", source[first:last].decode("utf-8", "replace")) if last < 1 << 60 else ""
            for verb, route in _HTTP.findall(text) if _OPTION in text else ():
                yield self._endpoint(verb.upper(), route, "grpc-gateway", place)

    def _endpoint(self, verb: str, route: str, framework: str, place: Place) -> Endpoint:
        line = self._code.definition(place).name_line
        return Endpoint(verb, route, place.path, line, framework, Tier.STRONG, place, line)
