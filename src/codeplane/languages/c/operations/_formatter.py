"""What lays out C after operations."""

from typing import Final

FORMATTER: Final = "clang-format"
