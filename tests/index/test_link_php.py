"""PHP across files: the loader, namespaces, traits before bases, and what a name in its role can mean."""

from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.names import Index

FILES = {
    "composer.json": '{"autoload": {"psr-4": {"App\\\\": "src/"}}}',
    "src/Exception.php": "<?php\nnamespace App;\nclass Exception { function own() {} }\n",
    "src/Base.php": "<?php\nnamespace App;\nabstract class Base {\n    public $name;\n"
    "    function greet() {}\n    function size() {}\n    static function make() {}\n}\n",
    "src/Loud.php": "<?php\nnamespace App;\ntrait Loud { function greet() {} }\n",
    "src/Sub/helpers.php": "<?php\nnamespace App\\Sub;\nfunction help() {}\nconst LIMIT = 1;\n",
    "global.php": "<?php\nfunction everywhere() {}\nclass Nowhere {}\n$shared = 1;\n",
    "src/User.php": """<?php
namespace App;
use App\\Sub\\Nothing;
class User extends Base {
    use Loud;
    public $size;
    function name() { return $this->name . $this->size() . $this->greet(); }
    function more(Base $other) { return parent::greet() . self::make() . $other->size(); }
}
class Failure extends \\Exception { function f() { return $this->own(); } }
class Mine extends Exception { function f() { return $this->own(); } }
new \\App\\Base; Sub\\help(); \\App\\Sub\\help(); namespace\\Sub\\LIMIT; \\App\\User::make();
everywhere(); new Nowhere; function f() { return $shared; }
""",
}


def meanings(index: Index, repo: Path) -> dict[tuple[int, str], tuple[str, Tier]]:
    for path, text in FILES.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    index.refresh()
    with index.snapshot() as snapshot:
        refs = list(snapshot.references_in(RepoPath("src/User.php")))
    return {
        (ref.line, f"{ref.receiver} {ref.name}".strip()): (ref.target[0].path if ref.target else "", ref.tier)
        for ref in refs
    }


def test_names_are_followed_through_namespaces_traits_and_bases(index: Index, repo: Path) -> None:
    seen = meanings(index, repo)
    assert seen[4, "Base"] == ("src/Base.php", Tier.STRONG)
    assert seen[7, "$this greet"] == ("src/Loud.php", Tier.STRONG)
    assert seen[8, "parent greet"] == ("src/Base.php", Tier.STRONG)
    assert seen[8, "self make"] == ("src/Base.php", Tier.STRONG)
    assert seen[8, "$other size"] == (
        "src/Base.php",
        Tier.STRONG,
    )  # a call is of a method, not of User's `$size`
    assert seen[12, "\\App\\ Base"] == ("src/Base.php", Tier.STRONG)
    assert seen[12, "Sub\\ help"] == ("src/Sub/helpers.php", Tier.STRONG)
    assert seen[12, "\\App\\Sub\\ help"] == ("src/Sub/helpers.php", Tier.STRONG)
    assert seen[12, "namespace\\Sub\\ LIMIT"] == ("src/Sub/helpers.php", Tier.STRONG)
    assert seen[12, "\\App\\User make"] == ("src/Base.php", Tier.STRONG)


def test_what_only_looks_like_a_name_is_not_bound(index: Index, repo: Path) -> None:
    seen = meanings(index, repo)
    assert seen[7, "$this name"][0] == "" and seen[7, "$this size"][0] == ""
    assert seen[10, "$this own"] == ("", Tier.ANCHORED)  # the root's Exception, not that of the namespace
    assert seen[11, "$this own"] == ("src/Exception.php", Tier.STRONG)
    assert seen[13, "everywhere"] == ("global.php", Tier.STRONG)  # functions fall back to the root
    assert seen[13, "Nowhere"] == ("", Tier.UNKNOWN)  # classes do not
    assert seen[13, "$shared"][0] == ""
