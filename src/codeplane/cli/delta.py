import pkgutil
from importlib import import_module
from keyword import iskeyword

import click

import codeplane.cli._delta as commands


class _DeltaCommands(click.Group):
    """The commands in the folder `_delta`; only the one that was asked for is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
        return sorted(name.removesuffix("_") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        unit = getattr(import_module(f"{commands.__name__}.{name}"), name)
        assert isinstance(unit, click.Command), f"BUG: {cmd_name}.py holds no command {cmd_name}"
        return unit


@click.group(cls=_DeltaCommands)
def delta() -> None:
    """Look for code by its structure, and change it by plans of small edits."""
