"""What lays out JavaScript and TypeScript after operations."""

from typing import Final

FORMATTER: Final = "prettier"
