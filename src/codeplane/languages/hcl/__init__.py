"""HCL: Terraform, and others that are written like it."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="hcl",
    family="terraform",
    grammar="tree_sitter_hcl",
    extensions=(".tf", ".hcl", ".tfvars", ".nomad"),
    query_depth=0,
    gaps="Blocks inside blocks; references. A block with two labels is named `type.name`.",
)
