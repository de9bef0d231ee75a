"""Ruby across files: constants through what is required, calls without a receiver through the class."""

from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.names import Index

FILES = {
    "lib/base.rb": "class Base\n  def greet; end\n  def self.make; end\nend\n"
    "module Loud; def shout; end; end\n",
    "lib/twice.rb": "class Twice; end\nmodule Inside; class Twice; end; end\n",
    "main.rb": """require_relative "lib/base"
require_relative "lib/twice"
class User < Base
  include Loud
  def go
    greet
    shout
    make
    [1].each { greet }
    unknown
    self.greet
  end
  def self.all; greet; end
end
Base.make
Base.greet; Loud.shout
Twice
Nothing
""",
}


def test_names_are_followed_and_nothing_is_guessed(index: Index, repo: Path) -> None:
    for path, text in FILES.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    index.refresh()
    with index.snapshot() as snapshot:
        refs = list(snapshot.references_in(RepoPath("main.rb")))
    seen = {
        (ref.line, f"{ref.receiver} {ref.name}".strip()): (ref.target[0].path if ref.target else "", ref.tier)
        for ref in refs
    }
    base = ("lib/base.rb", Tier.STRONG)
    assert [seen[3, "Base"], seen[4, "Loud"], seen[6, "greet"], seen[7, "shout"]] == [base] * 4
    assert [seen[11, "self greet"], seen[15, "Base make"]] == [base] * 2
    assert seen[8, "make"][0] == ""  # a method of the class is not one of its instances
    assert seen[16, "Base greet"][0] == seen[16, "Loud shout"][0] == ""
    assert seen[9, "greet"][0] == ""  # a block may run with another receiver
    assert seen[13, "greet"][0] == ""
    assert seen[17, "Twice"][0] == ""  # two of this name, and which is meant depends on more than this file
    assert seen[10, "unknown"][0] == seen[18, "Nothing"][0] == ""
