"""A local repository control plane for AI coding agents."""

__version__ = "0.1.0"
__all__ = ["__version__"]
