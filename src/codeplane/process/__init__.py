"""The only place that starts programs."""

from codeplane.process.programs import Finished, Programs

__all__ = ["Finished", "Programs"]
