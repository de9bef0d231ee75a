"""Shell scripts: bash, and what of sh, dash, ksh and zsh is written alike."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="bash",
    family="shell",
    grammar="tree_sitter_bash",
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats"),
    filenames=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".zshenv", "PKGBUILD"),
    shebangs=("bash", "sh", "zsh", "dash", "ksh"),
    constant=r"[A-Z][A-Z0-9_]*",
    dynamic_calls={"eval": ("eval", 0)},
    gaps="Names are not bound: scopes are dynamic. Variables of functions are no definitions.",
)
