"""Prefixes that the keys in a block get: `with env.prefixed("APP_"):`."""

from codeplane.core.paths import RepoPath
from codeplane.languages.sites import Site, SiteKind
from codeplane.surfaces.values import Evaluator, Located


def block_prefix(evaluator: Evaluator, path: RepoPath, site: Site, method: str) -> str | None:
    """The prefixes of all blocks around a site, outermost first; None where one isn't known."""
    prefix = ""
    around = evaluator.definition_around(path, site.start)
    for one in evaluator.sites(path).sites:
        if one.start >= site.start:
            break
        is_block = one.kind is SiteKind.CALL and one.value.text == method and one.value.arguments
        if not is_block or evaluator.definition_around(path, one.start) != around:
            continue
        if not _is_in_block(evaluator.code.source(path), one, site):
            continue
        text = evaluator.text(Located(path, one.value.arguments[0]))
        if text is None:
            return None
        prefix += text
    return prefix


def _is_in_block(source: bytes, head: Site, site: Site) -> bool:
    """Whether a site is deeper than the line of a `with`, and so is every line up to it."""
    first = source.rfind(b"\n", 0, head.start) + 1
    line = source[first : head.start]
    if not line.lstrip().startswith((b"with ", b"async with ")):
        return False
    indent = len(line) - len(line.lstrip())
    body = source[head.end : site.end].split(b"\n")
    lines = [one for one in body[1:] if one.strip() and not one.lstrip().startswith(b"#")]
    if not lines:
        return b":" in body[0]  # `with env.prefixed("A_"): x = env("B")`
    return all(len(one) - len(one.lstrip()) > indent for one in lines)
