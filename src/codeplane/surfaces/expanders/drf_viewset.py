"""The routes of a Django REST framework viewset that a router registers."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.handlers import Handlers
from codeplane.surfaces.kinds import ancestry, class_attribute
from codeplane.surfaces.values import Evaluator, Located, Thing

_COLLECTION: Final = {"list": "GET", "create": "POST"}
_DETAIL: Final = {"retrieve": "GET", "update": "PUT", "partial_update": "PATCH", "destroy": "DELETE"}
_MIXINS: Final = {
    "ListModelMixin": ("list",),
    "CreateModelMixin": ("create",),
    "RetrieveModelMixin": ("retrieve",),
    "UpdateModelMixin": ("update", "partial_update"),
    "DestroyModelMixin": ("destroy",),
}
_ACTIONS: Final = {
    **{f"rest_framework.mixins.{name}": actions for name, actions in _MIXINS.items()},
    "rest_framework.viewsets.ModelViewSet": (*_COLLECTION, *_DETAIL),
    "rest_framework.viewsets.ReadOnlyModelViewSet": ("list", "retrieve"),
}
_DECORATORS: Final = {
    "rest_framework.decorators.action": None,
    "rest_framework.decorators.detail_route": True,
    "rest_framework.decorators.list_route": False,
}


class ExpandedRoute(NamedTuple):
    """One route of several."""

    method: str
    suffix: str
    place: Place
    line: int


def drf_viewset(
    evaluator: Evaluator, handlers: Handlers, router: Thing, viewset: Place, prefix: str
) -> Iterator[ExpandedRoute]:
    """The routes of a viewset: its standard actions, and its methods with `@action`."""
    slash = "" if _is_false(router.made_by, "trailing_slash") else "/"
    lookup = _class_text(evaluator, viewset, "lookup_url_kwarg")
    lookup = lookup or _class_text(evaluator, viewset, "lookup_field") or "pk"
    base = prefix.strip("/")
    start = f"{base}/" if base else ""
    detail = f"{start}<{lookup}>"
    classes = list(ancestry(evaluator, viewset))
    inherited = {action for one in classes if isinstance(one, str) for action in _ACTIONS.get(one, ())}
    served = handlers.served_names(viewset)
    collection = f"{base}{slash}" if base else ""
    for table, suffix in ((_COLLECTION, collection), (_DETAIL, f"{detail}{slash}")):
        for action, verb in table.items():
            place = handlers.method_of(viewset, action) or (viewset if action in inherited else None)
            if place is not None and (served is None or verb in served):
                yield ExpandedRoute(verb, suffix, place, evaluator.code.definition(place).name_line)
    names: set[str] = set()
    for one in classes:
        for route in _extra_actions(evaluator, one, names) if isinstance(one, Place) else ():
            verbs, is_detail, path, place = route
            suffix = f"{detail if is_detail else base}/{path}{slash}"
            line = evaluator.code.definition(place).name_line
            for verb in verbs:
                if served is None or verb in served:
                    yield ExpandedRoute(verb, suffix.lstrip("/"), place, line)


def _extra_actions(
    evaluator: Evaluator, viewset: Place, names: set[str]
) -> Iterator[tuple[list[str], bool, str, Place]]:
    """The methods of one class with `@action`: verbs, whether of a single object, path, method."""
    code, path = evaluator.code, viewset.path
    first, last = evaluator.byte_span(path, code.definition(viewset).span)
    paths: dict[str, tuple[bool, str]] = {}
    for site in evaluator.sites(path).within(first, last):
        place = evaluator.decorated_by(path, site) if site.kind is SiteKind.DECORATOR else None
        if place is None or code.definition(place).item.parent != viewset.definition:
            continue
        name = code.definition(place).name
        mapped = _mapped_action(site)
        if mapped in paths:
            yield [site.value.text.upper()], *paths[mapped], place
            continue
        full_name = evaluator.full_name(path, site.value)
        if full_name not in _DECORATORS or name in names:
            continue
        names.add(name)
        is_detail = _DECORATORS[full_name]
        if is_detail is None:
            flag = site.value.keyword_argument("detail") or site.value.argument(1)
            is_detail = flag is not None and flag.text == "True"
        texts = Arguments(evaluator).texts(Located(path, site.value), "kw.methods | arg0") or []
        url = Arguments(evaluator).texts(Located(path, site.value), "kw.url_path") or [""]
        paths[name] = (is_detail, url[0] or name)
        yield [text.upper() for text in texts if text] or ["GET"], *paths[name], place


def _mapped_action(site: Site) -> str:
    """The action that `@cancel.mapping.delete` adds a verb to."""
    owner = site.value.receiver
    is_mapping = owner is not None and owner.kind is ValueKind.NAME and owner.text.endswith(".mapping")
    return owner.text.removesuffix(".mapping") if owner is not None and is_mapping else ""


def _class_text(evaluator: Evaluator, viewset: Place, name: str) -> str:
    value = class_attribute(evaluator, viewset, name)
    return (evaluator.text(value) or "") if value is not None else ""


def _is_false(call: Located | None, name: str) -> bool:
    value: Value | None = call.value.keyword_argument(name) if call is not None else None
    return value is not None and value.text == "False"
