"""Where a `require` of Ruby leads."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.ruby import modules
from tests.languages.sources import Files

FILES = {
    "app.gemspec": "",
    "Rakefile": "",
    "lib/app.rb": 'require "app/user"\nrequire_relative "app/tool.rb"\nrequire "set"\nrequire "other"\n'
    'require_relative "../../../etc/passwd"\nrequire "/etc/passwd"\nrequire "both"\nrequire "app/USER"',
    "lib/app/user.rb": "module App; class User; end; end",
    "lib/app/tool.rb": "require_relative '../app'",
    "lib/both.rb": "",
    "gems/other/other.gemspec": "",
    "gems/other/Gemfile": "",
    "gems/other/lib/other.rb": "",
    "gems/other/lib/both.rb": "",
    "gems/plain/lib/plain.rb": "",
}


def found(path: str) -> list[list[str]]:
    sources = Files(FILES)
    return [[place.path for place in modules.places(sources, path, item)] for item in sources.imports(path)]


def test_files_are_found_beside_the_file_and_below_lib() -> None:
    assert found("lib/app.rb") == [
        ["lib/app/user.rb"],
        ["lib/app/tool.rb"],
        [],
        ["gems/other/lib/other.rb"],
        [],
        [],
        [],
        [],
    ]
    assert found("lib/app/tool.rb") == [["lib/app.rb"]]


def test_a_file_is_named_by_the_way_it_is_required() -> None:
    names = [
        modules.module_name(Files(FILES), path) for path in ("lib/app/user.rb", "gems/other/lib/both.rb")
    ]
    assert names == ["app/user", "both"]
    assert modules.module_name(Files(FILES), "gems/plain/lib/plain.rb") == "gems/plain/lib/plain"


def test_nothing_is_seen_without_a_require() -> None:
    assert not modules.ambient(Files(FILES), Place(RepoPath("lib/app.rb")))
    assert not modules.submodule(Files(FILES), Place(RepoPath("lib/app.rb")), "user")
