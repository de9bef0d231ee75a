"""Configuration keys: where the code reads them, where they are defined, and their defaults."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from codeplane.core.slots import EpochSlot
from codeplane.names import Codebase
from codeplane.surfaces.collectors.bound_options import bound_keys
from codeplane.surfaces.collectors.config_files import file_definitions
from codeplane.surfaces.collectors.config_readers import read_keys
from codeplane.surfaces.collectors.config_use import ConfigSurface, ConfigUse
from codeplane.surfaces.collectors.django_settings import django_keys
from codeplane.surfaces.collectors.settings_classes import settings_fields
from codeplane.surfaces.recorder import recording
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.values import Evaluator

_KEYS: Final[EpochSlot[str, ConfigSurface]] = EpochSlot("configuration keys")


@dataclass(frozen=True)
class ConfigKey:
    """A key with everything that reads or defines it."""

    key: str
    reads: tuple[ConfigUse, ...]
    definitions: tuple[ConfigUse, ...]

    @property
    def default(self) -> str | None:
        """The default of the first read that has one."""
        return next((use.default for use in self.reads if use.default is not None), None)


def config_surface(code: Codebase) -> ConfigSurface:
    """Every use of a configuration key in a state of the code."""
    return code.once(_KEYS, rules_of(code).digest, lambda: _collect(code))


def group_keys(uses: Iterable[ConfigUse]) -> list[ConfigKey]:
    """Uses by key, in order of the keys."""
    table: dict[str, list[ConfigUse]] = {}
    for use in uses:
        table.setdefault(use.key, []).append(use)
    return [
        ConfigKey(
            key,
            tuple(use for use in some if not use.is_definition),
            tuple(use for use in some if use.is_definition),
        )
        for key, some in sorted(table.items())
    ]


def _collect(code: Codebase) -> ConfigSurface:
    evaluator = Evaluator(recording(code))
    surface = ConfigSurface()
    collectors: list[Iterator[ConfigUse]] = [
        read_keys(evaluator, surface),
        settings_fields(evaluator, surface),
        django_keys(evaluator),
        bound_keys(evaluator),
        file_definitions(code),
    ]
    uses = dict.fromkeys(use for collector in collectors for use in collector)
    surface.uses = sorted(uses, key=lambda use: (use.key, use.path, use.line, use.pattern))
    return surface
