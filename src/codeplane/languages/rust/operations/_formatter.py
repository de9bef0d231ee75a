"""What lays out Rust after operations."""

from typing import Final

FORMATTER: Final = "rustfmt"
