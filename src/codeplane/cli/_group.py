"""`cpl`: finds its subcommands in this folder and loads only the one that was asked for."""

import pkgutil
import sys
from importlib import import_module

import click

import codeplane.cli
from codeplane import __version__
from codeplane.cli._command import fail
from codeplane.core.errors import PlatformUnsupported
from codeplane.core.suggest import nearest


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        names = (module.name for module in pkgutil.iter_modules(codeplane.cli.__path__))
        return sorted(name for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = getattr(import_module(f"codeplane.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command), f"BUG: {cmd_name}.py holds no command {cmd_name}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        near = nearest(args[0], self.list_commands(ctx), most=1) if args else []
        if args and near and args[0] not in self.list_commands(ctx):
            ctx.fail(f"There is no command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cpl")
def cpl() -> None:
    """CodePlane: a local repository control plane for AI coding agents."""


def main() -> None:
    if sys.platform == "win32":
        fail(PlatformUnsupported("CodePlane runs on Linux and macOS.", hints=["WSL"]), as_json=False)
    cpl(prog_name="cpl")
