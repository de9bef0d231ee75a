"""Dockerfiles."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="dockerfile",
    family="docker",
    grammar="tree_sitter_dockerfile",
    extensions=(".dockerfile", ".containerfile"),
    filenames=("Dockerfile", "Containerfile", "Dockerfile.dev", "Dockerfile.prod", "Dockerfile.test"),
    name_marks="\"'",
    gaps="Stages, arguments and variables of the environment; a stage without a name goes by its image.",
)
