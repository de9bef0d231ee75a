"""GraphQL: schemas and operations."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="graphql",
    family="graphql",
    grammar="tree_sitter_graphql",
    extensions=(".graphql", ".graphqls", ".gql"),
    gaps="Fields of operations, arguments and directives are not referred to.",
)
