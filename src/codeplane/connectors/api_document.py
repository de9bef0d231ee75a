"""An API description as a tree: read within bounds, with references that stay inside it."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import unquote

from codeplane.core.documents import DEEPEST, Malformed, parse_json
from codeplane.core.errors import ConnectorAnswerInvalid
from codeplane.core.redaction import REDACTED

_MOST_HOPS: Final = 32
_MOST_PARTS: Final = 64
_LONGEST_REFERENCE: Final = 2_000
# What a description may cost: references may lead from everywhere to everywhere.
_MOST_STEPS: Final = 1_500_000


@dataclass(frozen=True)
class Piece:
    """A part of a description: the digest of its own text, and where its references lead."""

    digest: str
    pointers: tuple[str, ...]


@dataclass
class ApiDocument:
    """A description of Swagger 2 or OpenAPI 3; scalars of YAML are texts, those of JSON what they are."""

    root: dict[str, Any]
    label: str
    version: str
    family: Literal["swagger", "openapi"]
    _pieces: dict[str, Piece] = field(default_factory=dict, init=False, repr=False)
    _steps: int = field(default=0, init=False, repr=False)

    def follow_reference(self, node: Any) -> Any:
        """What a node stands for: itself, or the target of its local reference; the last node where that
        leads nowhere, in a circle, or out of the document."""
        visited: set[str] = set()
        for _ in range(_MOST_HOPS):
            pointer = local_pointer(node)
            if pointer is None or pointer in visited:
                return node
            visited.add(pointer)
            target = self.find_target(pointer)
            if target is None:
                return node
            node = target
        return node

    def find_target(self, pointer: str) -> Any:
        """The node that a reference such as `#/components/schemas/Pet` names; None for none."""
        node: Any = self.root
        parts = pointer.removeprefix("#").split("/")[1:]
        if len(parts) > _MOST_PARTS:
            return None
        for part in parts:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                node = node.get(name)
            elif isinstance(node, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(node):
                node = node[int(name[:9])]
            else:
                return None
        return node

    def closure_digest(self, node: Any) -> str:
        """The sha256 of a part and of everything that it refers to, however many circles there are."""
        own = self._piece_of(node)
        digests: dict[str, str] = {}
        pending = list(own.pointers)
        while pending:
            pointer = pending.pop()
            self._count_steps(1)
            if pointer in digests:
                continue
            piece = self._pieces.get(pointer)
            if piece is None:
                piece = self._pieces[pointer] = self._piece_of(self.find_target(pointer))
            digests[pointer] = piece.digest
            pending += piece.pointers
        text = json.dumps([own.digest, sorted(digests.items())])
        return hashlib.sha256(text.encode()).hexdigest()

    def _piece_of(self, node: Any) -> Piece:
        pointers = dict.fromkeys(self._pointers_in(node))
        text = json.dumps(canonical_form(node), sort_keys=True, ensure_ascii=False)
        return Piece(hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(), tuple(pointers))

    def _pointers_in(self, node: Any) -> Iterator[str]:
        pending = [node]
        while pending:
            item = pending.pop()
            self._count_steps(1)
            pointer = local_pointer(item)
            if pointer is not None:
                yield pointer
            if isinstance(item, dict):
                pending += item.values()
            elif isinstance(item, list):
                pending += item

    def _count_steps(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise ConnectorAnswerInvalid(f"The references in {self.label} are too entangled to be followed.")


def reference_of(node: Any) -> str | None:
    """The reference that a node consists of."""
    reference = node.get("$ref") if isinstance(node, dict) else None
    return reference if isinstance(reference, str) and len(reference) <= _LONGEST_REFERENCE else None


def local_pointer(node: Any) -> str | None:
    """The reference of a node, where it stays in the document."""
    reference = reference_of(node)
    return reference if reference is not None and (reference == "#" or reference.startswith("#/")) else None


def canonical_form(node: Any) -> Any:
    """The part of a description with every scalar as a text, so that JSON and YAML give the same."""
    if isinstance(node, dict):
        return {str(key): canonical_form(value) for key, value in node.items()}
    if isinstance(node, list):
        return [canonical_form(item) for item in node]
    return scalar_text(node)


def scalar_text(value: Any) -> str:
    """A scalar as JSON would write it, strings without their quotes."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def is_true(value: Any) -> bool:
    """Whether a flag is set; in YAML it is a text."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def mapping_at(node: Any, *names: str) -> dict[str, Any]:
    """The mapping along a way of names; an empty one where something else stands there."""
    for name in names:
        node = node.get(name) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else {}


def sequence_at(node: Any, name: str) -> Sequence[Any]:
    """The list under a name; an empty one where something else stands there."""
    value = node.get(name) if isinstance(node, dict) else None
    return value if isinstance(value, list) else ()


def text_at(node: Any, name: str) -> str:
    """The text under a name; an empty one where there is none."""
    value = node.get(name) if isinstance(node, dict) else None
    return scalar_text(value) if isinstance(value, str | int | float) else ""


def parse_description(data: bytes, label: str, secrets: Sequence[str] = ()) -> ApiDocument:
    """Reads JSON or YAML; `ConnectorAnswerInvalid` where that is no API description."""
    try:
        # A host may echo a token with escapes, which only a parser sees through.
        root = _without_secrets(_parse_tree(data), secrets) if secrets else _parse_tree(data)
    except (Malformed, UnicodeDecodeError) as error:
        reason = error if isinstance(error, Malformed) else "it is not UTF-8"
        raise ConnectorAnswerInvalid(
            f"{label} can't be read as JSON or YAML: {reason}.",
            hints=["YAML may have 1 MiB and no aliases; JSON may be as large as connectors.max_bytes."],
        ) from error
    swagger, openapi = text_at(root, "swagger"), text_at(root, "openapi")
    if isinstance(root, dict) and openapi.startswith("3."):
        return ApiDocument(root, label, openapi[:20], "openapi")
    if isinstance(root, dict) and swagger.startswith("2"):
        return ApiDocument(root, label, swagger[:20], "swagger")
    raise ConnectorAnswerInvalid(f"{label} is neither OpenAPI 3 nor Swagger 2.")


def _parse_tree(data: bytes) -> Any:
    text = data.decode("utf-8-sig")
    if text.lstrip()[:1] in ("{", "["):
        return parse_json(text, len(text))
    from codeplane.core.yaml_text import parse_yaml_texts  # its parser takes long to load

    tree = parse_yaml_texts(text)
    _check_depth(tree)
    return tree


def _without_secrets(node: Any, secrets: Sequence[str]) -> Any:
    if isinstance(node, dict):
        return {
            _without_secrets(key, secrets): _without_secrets(value, secrets) for key, value in node.items()
        }
    if isinstance(node, list):
        return [_without_secrets(item, secrets) for item in node]
    if isinstance(node, str):
        for secret in secrets:
            node = node.replace(secret, REDACTED)
    return node


def _check_depth(tree: Any) -> None:
    # Blocks of YAML nest without brackets, and deeper than JSON may.
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise Malformed("nested too deeply")
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
        ]
