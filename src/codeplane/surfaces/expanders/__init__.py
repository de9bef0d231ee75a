"""What makes several routes of one registration. A closed set: rules name them."""

from codeplane.surfaces.expanders.drf_viewset import ExpandedRoute, drf_viewset

__all__ = ["ExpandedRoute", "drf_viewset"]
