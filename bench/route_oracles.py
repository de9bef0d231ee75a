"""Prints the routes that a framework itself knows of an application, as JSON. Runs in the application's own
environment: `python route_oracles.py NAME`. A row is method, path, and the handler's name."""

import contextlib
import functools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, str, str]
_WRAPPED = ("func", "view", "handler", "f", "fn", "view_func")
_IMPLICIT = ("HEAD", "OPTIONS")


def _handler_name(handler: Any) -> str:
    """The name of what is behind partials, `functools.wraps` and closures."""
    for _ in range(12):
        inner = handler.func if isinstance(handler, functools.partial) else None
        inner = inner or getattr(handler, "__wrapped__", None)
        code = getattr(handler, "__code__", None)
        if inner is None and code is not None and handler.__closure__:
            cells = dict(zip(code.co_freevars, handler.__closure__, strict=True))
            inner = next((cells[name].cell_contents for name in _WRAPPED if name in cells), None)
        if inner is None or not callable(inner):
            break
        handler = inner
    return str(getattr(handler, "__name__", type(handler).__name__))


def starlette_rows(routes: Any, prefix: str = "") -> Iterator[Row]:
    """The routes of FastAPI and Starlette, mounts included."""
    for route in routes:
        path = prefix + getattr(route, "path", "")
        inner = getattr(route, "app", None)
        endpoint = getattr(route, "endpoint", None)
        if endpoint is None:
            yield from starlette_rows(getattr(inner, "routes", None) or (), path)
        elif not endpoint.__module__.startswith(("fastapi.", "starlette.")):
            for method in sorted(getattr(route, "methods", None) or ["WS"]):
                if method not in _IMPLICIT:
                    yield method, path, _handler_name(endpoint)


def flask_rows(app: Any) -> Iterator[Row]:
    """The routes of Flask; those of views are methods of their classes."""
    for rule in app.url_map.iter_rules():
        view = app.view_functions[rule.endpoint]
        view_class = getattr(view, "view_class", None)
        is_own = not getattr(view_class or view, "__module__", "").startswith(("flask", "werkzeug"))
        for method in sorted(rule.methods - set(_IMPLICIT)) if is_own and rule.endpoint != "static" else ():
            yield method, str(rule), method.lower() if view_class is not None else _handler_name(view)


def django_rows(patterns: Any, own: str, prefix: str = "") -> Iterator[Row]:
    """The routes of a Django package's own modules; viewsets by their actions, classes by their verbs."""
    from django.contrib.admindocs.views import simplify_regex

    for pattern in patterns:
        text = str(pattern.pattern)
        path = prefix + (simplify_regex(text)[1:] if hasattr(pattern.pattern, "_regex") else text)
        if hasattr(pattern, "url_patterns"):
            module = getattr(pattern.urlconf_name, "__name__", own)
            if module.startswith(own):
                yield from django_rows(pattern.url_patterns, own, path)
            continue
        view = pattern.callback
        view_class = getattr(view, "view_class", None) or getattr(view, "cls", None)
        is_root_view = getattr(view_class or view, "__name__", "") == "APIRootView"
        if is_root_view or "format_suffix" in path or "<format>" in path:
            continue  # a second spelling of the same route, made by the framework
        actions = getattr(view, "actions", None)
        if actions:
            yield from ((verb.upper(), f"/{path}", name) for verb, name in actions.items() if verb != "head")
        elif view_class is not None:
            verbs = [verb for verb in view_class.http_method_names if hasattr(view_class, verb)]
            yield from ((v.upper(), f"/{path}", v) for v in verbs if v.upper() not in _IMPLICIT)
        else:
            yield "ANY", f"/{path}", _handler_name(view)


def argilla() -> list[Row]:
    os.environ["ARGILLA_HOME_PATH"] = tempfile.mkdtemp()
    from argilla_server._app import create_server_app

    return list(starlette_rows(create_server_app().routes))


def changedetection() -> list[Row]:
    from changedetectionio import store
    from changedetectionio.flask_app import changedetection_app

    folder = tempfile.mkdtemp()
    data = store.ChangeDetectionStore(datastore_path=folder, include_default_watches=False, version_tag="0")
    return list(flask_rows(changedetection_app({"datastore_path": folder}, data)))


def calibreweb() -> list[Row]:
    import calibreweb as package

    folder = tempfile.mkdtemp()
    sys.path.insert(0, str(Path(next(iter(package.__path__)))))
    sys.argv = ["cps", "-p", f"{folder}/app.db", "-g", f"{folder}/gdrive.db"]
    import cps
    from cps import main

    class Started(Exception):
        pass

    def stop(*_: object) -> bool:
        raise Started

    cps.web_server.start = stop
    with contextlib.suppress(Started):
        main.main()
    return list(flask_rows(cps.app))


def ctfd() -> list[Row]:
    os.environ["DATABASE_URL"] = f"sqlite:///{tempfile.mkdtemp()}/ctfd.db"
    sys.path.insert(0, os.getcwd())
    import inspect

    if not hasattr(inspect, "getargspec"):  # a dependency asks for it
        inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]
    from CTFd import create_app

    return list(flask_rows(create_app()))


def marimo() -> list[Row]:
    from marimo._server.api.router import build_routes

    return list(starlette_rows(build_routes()))


def dagster() -> list[Row]:
    from unittest.mock import MagicMock

    from dagster_webserver.webserver import DagsterWebserver

    return list(starlette_rows(DagsterWebserver(MagicMock()).create_asgi_app().routes))


def _django(own: str, urls: str, apps: list[str], **settings: object) -> list[Row]:
    import django
    from django.conf import settings as configuration
    from django.urls import get_resolver

    contrib = ("admin", "auth", "contenttypes", "flatpages", "humanize", "messages", "sessions", "sites")
    configuration.configure(
        INSTALLED_APPS=[*(f"django.contrib.{name}" for name in contrib), "rest_framework", *apps],
        ROOT_URLCONF=urls,
        SITE_ID=1,
        SECRET_KEY="bench",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        **settings,
    )
    django.setup()
    return list(django_rows(get_resolver().url_patterns, own))


def helpdesk() -> list[Row]:
    return _django("helpdesk", "helpdesk.urls", ["helpdesk"])


def oscarapi() -> list[Row]:
    import oscar
    from oscar import defaults

    values = {name: value for name, value in vars(defaults).items() if name.startswith("OSCAR")}
    haystack = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
    apps = [name for name in oscar.INSTALLED_APPS if not name.startswith("django.contrib")]
    return _django("oscarapi", "oscarapi.urls", [*apps, "oscarapi"], HAYSTACK_CONNECTIONS=haystack, **values)


ORACLES: dict[str, Callable[[], list[Row]]] = {
    function.__name__: function
    for function in (argilla, calibreweb, changedetection, ctfd, dagster, helpdesk, marimo, oscarapi)
}

if __name__ == "__main__":
    name, target = sys.argv[1:3]
    Path(target).write_text(json.dumps(sorted(set(ORACLES[name]()))))
    os._exit(0)  # applications leave threads behind
