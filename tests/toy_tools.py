"""Tools that exist in tests only, found by the registry like any other. Run as a program, this is `cpl`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import codeplane.tools
from codeplane.tools import Tool, all_tools

TOYS = Path(__file__).parent / "toys"


@contextmanager
def toys_found(folder: Path = TOYS) -> Iterator[dict[str, Tool]]:
    """Inside this block the registry finds the tools of `folder` too."""
    codeplane.tools.__path__.append(str(folder))
    all_tools.cache_clear()
    try:
        yield all_tools()
    finally:
        codeplane.tools.__path__.remove(str(folder))
        all_tools.cache_clear()
        for module in folder.glob("*.py"):
            sys.modules.pop(f"codeplane.tools.{module.stem}", None)


if __name__ == "__main__":
    from codeplane.cli import main

    with toys_found():
        main()
