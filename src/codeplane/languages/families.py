"""The language families: what marks a root, which files belong, how a workspace lists its members.

Globs are canonical: `/` between segments, `**` for any number of whole segments, `*` and `?` within one
segment, a backslash before a character that is meant literally.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from codeplane.languages.spec import specs

FamilyKind = Literal["code", "data"]

WorkspaceForm = Literal["npm", "pnpm", "go_work", "cargo", "gradle"]
"""The notation in which a workspace file lists its members."""


@dataclass(frozen=True)
class Family:
    """One family. A marker that ends in `/` is a directory; `*` stands for the start of a file name."""

    name: str
    kind: FamilyKind
    include: tuple[str, ...] = ()
    workspace_markers: tuple[str, ...] = ()
    package_markers: tuple[str, ...] = ()
    # Markers with authority over the package roots below them. One that is a package marker too is a
    # workspace marker only when it lists members.
    authorities: Mapping[str, WorkspaceForm] = field(default_factory=dict)
    authority_owns_root: bool = True  # False: the package at the workspace's own root must be listed as well
    ambient: bool = False  # there is always a context at the root of the repository …
    ambient_unless: str = ""  # … unless this marker is found anywhere


UNIVERSAL_EXCLUDES: Final = (
    "**/node_modules/**",
    "**/venv/**",
    "**/__pycache__/**",
    "**/.git/**",
    "**/target/**",
    "**/dist/**",
    "**/build/**",
    "**/vendor/**",
)


def _word_tuple(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _globs_anywhere(names: str) -> tuple[str, ...]:
    return tuple(f"**/{name}" for name in names.split())


_ALL: Final = (
    Family(
        name="javascript",
        kind="code",
        include=_globs_anywhere("*.js *.jsx *.mjs *.cjs *.vue *.svelte *.astro *.ts *.tsx *.cts *.mts"),
        workspace_markers=_word_tuple(
            "pnpm-workspace.yaml lerna.json nx.json turbo.json rush.json yarn.lock pnpm-lock.yaml"
        ),
        package_markers=_word_tuple("package.json deno.json deno.jsonc tsconfig.json jsconfig.json"),
        authorities={"package.json": "npm", "pnpm-workspace.yaml": "pnpm"},
    ),
    Family(
        name="python",
        kind="code",
        include=_globs_anywhere("*.py *.pyi *.pyw *.pyx *.pxd *.pxi"),
        workspace_markers=_word_tuple("uv.lock poetry.lock Pipfile.lock"),
        package_markers=_word_tuple("pyproject.toml setup.py setup.cfg requirements.txt Pipfile"),
    ),
    Family(
        name="go",
        kind="code",
        include=_globs_anywhere("*.go"),
        workspace_markers=_word_tuple("go.work"),
        package_markers=_word_tuple("go.mod"),
        authorities={"go.work": "go_work"},
        authority_owns_root=False,
    ),
    Family(
        name="rust",
        kind="code",
        include=_globs_anywhere("*.rs"),
        workspace_markers=_word_tuple("Cargo.lock"),
        package_markers=_word_tuple("Cargo.toml"),
        authorities={"Cargo.toml": "cargo"},
    ),
    Family(
        name="jvm",
        kind="code",
        include=_globs_anywhere("*.java *.kt *.kts *.scala *.sc"),
        workspace_markers=_word_tuple("settings.gradle settings.gradle.kts .mvn/"),
        package_markers=_word_tuple("build.gradle build.gradle.kts pom.xml build.sbt"),
        authorities={"settings.gradle": "gradle", "settings.gradle.kts": "gradle"},
    ),
    Family(
        name="dotnet",
        kind="code",
        include=_globs_anywhere("*.cs *.fs *.fsx *.vb"),
        workspace_markers=_word_tuple("*.sln"),
        package_markers=_word_tuple("*.csproj *.fsproj *.vbproj"),
    ),
    Family(
        name="ruby",
        kind="code",
        include=_globs_anywhere("*.rb *.rake Gemfile"),
        workspace_markers=_word_tuple("Gemfile.lock"),
        package_markers=_word_tuple("Gemfile"),
    ),
    Family(
        name="php",
        kind="code",
        include=_globs_anywhere("*.php"),
        workspace_markers=_word_tuple("composer.lock"),
        package_markers=_word_tuple("composer.json"),
    ),
    # These three have a name and neither markers nor globs: only contexts.yaml can give them a context.
    Family(name="swift", kind="code"),
    Family(name="elixir", kind="code"),
    Family(name="haskell", kind="code"),
    Family(
        name="terraform",
        kind="data",
        include=_globs_anywhere("*.tf *.hcl"),
        workspace_markers=_word_tuple(".terraform.lock.hcl"),
        package_markers=_word_tuple("main.tf versions.tf"),
    ),
    Family(name="sql", kind="data", include=_globs_anywhere("*.sql"), ambient=True),
    Family(
        name="docker",
        kind="data",
        include=_globs_anywhere("Dockerfile *.Dockerfile docker-compose.yml docker-compose.yaml"),
        ambient=True,
    ),
    Family(name="markdown", kind="data", include=_globs_anywhere("*.md *.markdown *.mdx"), ambient=True),
    Family(
        name="json_yaml",
        kind="data",
        include=_globs_anywhere("*.json *.yaml *.yml *.toml *.jsonc"),
        ambient=True,
    ),
    Family(
        name="protobuf",
        kind="data",
        include=_globs_anywhere("*.proto"),
        workspace_markers=_word_tuple("buf.work.yaml"),
        package_markers=_word_tuple("buf.yaml"),
        ambient=True,
        ambient_unless="buf.yaml",
    ),
    Family(name="graphql", kind="data", include=_globs_anywhere("*.graphql *.gql"), ambient=True),
    Family(
        name="config",
        kind="data",
        include=_globs_anywhere("*.nix"),
        workspace_markers=_word_tuple("flake.lock"),
        package_markers=_word_tuple("flake.nix"),
    ),
)

FAMILIES: Final[Mapping[str, Family]] = {family.name: family for family in _ALL}

_LARGEST_PROBE: Final = 5_000_000
_MOST_ERRORS: Final = 0.1  # of all nodes


def probe_file(kind: FamilyKind, data: bytes, language: str | None) -> bool:
    """Whether a file is a sound one of its family; without a grammar, any text with something in it is."""
    if len(data) > _LARGEST_PROBE:
        return False
    if language is None or language not in specs():
        return b"\0" not in data and data.strip() != b""
    from codeplane.languages.query import errors_in, parse  # keeps the start quick: no grammar before use

    root = parse(language, data)
    errors = errors_in(root)
    if kind == "data":
        return root.child_count > 0 and errors == 0
    has_content = any(not node.is_extra and not node.is_error for node in root.named_children)
    return has_content and not root.is_error and errors < _MOST_ERRORS * root.descendant_count
