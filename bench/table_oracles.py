"""Writes the tables that an application's own models have, as its framework knows them: name and file.

python bench/table_oracles.py ORACLE TARGET, in the environment of the application.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, str]

# Modules whose import gives every model, and where the metadata are.
SQLALCHEMY = {
    "optuna": "optuna.storages._rdb.models",
    "jupyterhub": "jupyterhub.orm",
    "celery": "celery.backends.database.models",
    "dagster": (
        "dagster._core.storage.runs.schema dagster._core.storage.event_log.schema "
        "dagster._core.storage.schedules.schema"
    ),
    "buildbot": "buildbot.db.model",
    "mlflow": "mlflow.store.tracking.dbmodels.models mlflow.store.model_registry.dbmodels.models",
}
CONTRIB = "admin auth contenttypes sessions messages sites flatpages humanize staticfiles"
DJANGO = {
    "wagtail": (
        "taggit modelcluster wagtail.images wagtail.documents wagtail.users wagtail.embeds wagtail.search "
        "wagtail.snippets wagtail.sites wagtail.contrib.redirects wagtail.contrib.forms wagtail.admin "
        "wagtail wagtail.contrib.simple_translation wagtail.locales "
        " wagtail.contrib.settings wagtail.contrib.search_promotions"
    ).split(),
    "oscar": [],
    "oauth2_provider": ["oauth2_provider"],
    "django_celery_beat": ["django_celery_beat"],
    "waffle": ["waffle"],
    "helpdesk": ["helpdesk"],
    "allauth": ["allauth", "allauth.account", "allauth.socialaccount", "allauth.mfa"],
}


def sqlalchemy_rows(name: str) -> Iterator[Row]:
    """The tables of all metadata that the modules of an application hold."""
    from sqlalchemy import MetaData

    tables = set()
    for text in SQLALCHEMY[name].split():
        module = importlib.import_module(text)
        for value in [*vars(module).values(), *_class_values(module)]:
            metadata = value if isinstance(value, MetaData) else getattr(value, "metadata", None)
            if isinstance(metadata, MetaData):
                tables |= {table.name for table in metadata.tables.values()}
    yield from ((table, "") for table in sorted(tables))


def _class_values(module: Any) -> Iterator[Any]:
    for value in vars(module).values():
        if inspect.isclass(value):
            yield from vars(value).values()


def django_rows(name: str) -> Iterator[Row]:
    """The tables of the models that the package of an application defines, automatic ones too."""
    import django
    from django.apps import apps
    from django.conf import settings

    installed = [f"django.contrib.{one}" for one in CONTRIB.split()]
    extra: dict[str, Any] = {}
    own = DJANGO[name]
    if name == "oscar":
        import oscar
        from oscar import defaults

        own = [one for one in oscar.INSTALLED_APPS if not one.startswith("django.contrib")]
        extra = {key: value for key, value in vars(defaults).items() if key.startswith("OSCAR")}
        engine = "haystack.backends.simple_backend.SimpleEngine"
        extra["HAYSTACK_CONNECTIONS"] = {"default": {"ENGINE": engine}}
    settings.configure(
        INSTALLED_APPS=[*installed, *own],
        SITE_ID=1,
        SECRET_KEY="bench",
        STATIC_URL="/static/",
        WAGTAIL_SITE_NAME="bench",
        MIDDLEWARE=["allauth.account.middleware.AccountMiddleware"] if name == "allauth" else [],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        **extra,
    )
    django.setup()
    for model in apps.get_models(include_auto_created=True):
        origin = model._meta.auto_created or model
        if origin.__module__.split(".")[0] == name and not model._meta.proxy and model._meta.managed:
            yield model._meta.db_table, ""


def settings_rows(name: str) -> Iterator[Row]:
    """The keys that the fields of all settings classes of a package are filled from."""
    from pydantic import AliasChoices
    from pydantic_settings import BaseSettings

    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        try:
            importlib.import_module(module.name)
        except (ImportError, RuntimeError, ValueError, AttributeError, TypeError, SystemExit):
            continue  # an optional dependency
    pending, classes = [BaseSettings], set()
    while pending:
        for child in pending.pop().__subclasses__():
            if child not in classes:
                classes.add(child)
                pending.append(child)
    for one in classes:
        if one.__module__.split(".")[0] != name or one.__module__ not in sys.modules:
            continue
        # semantic-kernel sets the prefix from an attribute when an instance is made.
        prefix = getattr(one, "env_prefix", "") or one.model_config.get("env_prefix", "")
        for field_name, field in one.model_fields.items():
            alias = field.validation_alias
            names = [alias] if alias else [f"{prefix}{field_name}"]
            choices = alias.choices if isinstance(alias, AliasChoices) else names
            # The environment gives the first part of a path.
            texts = [getattr(choice, "path", [choice])[0] for choice in choices]
            delimiter = one.model_config.get("env_nested_delimiter")
            for text in texts:
                yield text.upper(), inspect.getsourcefile(one) or ""
                if delimiter:
                    yield from ((key, "") for key in nested_keys(field.annotation, text, delimiter))


def nested_keys(annotation: Any, key: str, delimiter: str) -> Iterator[str]:
    """The keys of the fields of the model that a field is declared as."""
    from pydantic import BaseModel

    models = [
        one
        for one in (annotation, *typing.get_args(annotation))
        if inspect.isclass(one) and issubclass(one, BaseModel)
    ]
    for model in models if typing.get_origin(annotation) in (None, typing.Union, types.UnionType) else ():
        for name, field in model.model_fields.items():
            inner = f"{key}{delimiter}{field.alias or name}"
            yield inner.upper()
            yield from nested_keys(field.annotation, inner, delimiter)


def main() -> None:
    name, target = sys.argv[1:3]
    kind, _, package = name.partition(":")
    rows = {"sqlalchemy": sqlalchemy_rows, "django": django_rows, "settings": settings_rows}[kind](package)
    names = sorted({row for row, _ in rows})
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    inside = [file.rpartition("site-packages/")[2] for file in files if file and f"/{package}/" in file]
    Path(target).write_text(json.dumps({"names": names, "files": sorted(inside)}))
    os._exit(0)  # applications leave threads behind


if __name__ == "__main__":
    main()
