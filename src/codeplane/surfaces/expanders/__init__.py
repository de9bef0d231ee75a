"""What makes several routes of one registration. A closed set: rules name them."""

from codeplane.surfaces.expanders.drf_viewset import ExpandedRoute, drf_viewset
from codeplane.surfaces.expanders.fastify_autoload import fastify_autoload
from codeplane.surfaces.expanders.graphql_schema import GraphqlSchema
from codeplane.surfaces.expanders.nest_modules import NestModules

__all__ = ["ExpandedRoute", "GraphqlSchema", "NestModules", "drf_viewset", "fastify_autoload"]
