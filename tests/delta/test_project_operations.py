"""Transforms beyond one file: renames with their proof, and parameters with the calls that follow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.errors import DeltaInvalid
from tests.delta.plans import PlanRepo, annotate, element

SHOP = """\
class Shop:
    def __init__(self, name):
        self.name = name

    def price(self, item, count=1):
        return len(item) * count

    @classmethod
    def named(cls, name):
        return Shop(name)

    @staticmethod
    def total(a, b):
        return a + b


class Corner(Shop):
    def price(self, item, count=1):
        return super().price(item, count) + 1


def visit(shop: Shop, item):
    return shop.price(item)
"""
USE = """\
from shop import Corner, Shop, visit as go


def run():
    shop = Shop("a")
    go(shop, "x")
    go(
        shop,
        "y",  # why
    )
    shop.price("x", count=2)
    Shop.price(shop, "x", 3)
    Corner("b").price("z", 4)
    Shop.total(1, 2)
    return Shop.named("c")
"""
FILES = {"shop.py": SHOP, "use.py": USE}


def repo_of(tmp_path: Path, files: Mapping[str, str] = FILES) -> PlanRepo:
    return PlanRepo(tmp_path, files)


def add(target: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"operation": "add_parameter", "target": target, "name": name, "call_sites": True, **rest}


def remove(target: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"operation": "remove_parameter", "target": target, "name": name, "call_sites": True, **rest}


def rename(target: str, to: str, **rest: Any) -> dict[str, Any]:
    return {"operation": "rename_symbol", "target": target, "to": to, "scope": "project", **rest}


def execute(repo: PlanRepo, *phases: Any) -> dict[str, Any]:
    plan = repo.create(*phases)
    return repo.result("execute_deltas", plan=plan, confidence="validated")


def red(repo: PlanRepo, *phases: Any) -> str:
    """What a validation says about a plan that has red tasks; no file has changed."""
    plan = repo.create(*phases)
    before = {path.name: path.read_bytes() for path in repo.root.glob("*.py")}
    answer = repo.ask("validate_deltas", plan=plan)
    assert {path.name: path.read_bytes() for path in repo.root.glob("*.py")} == before
    assert "red" in repo.statuses(plan).values(), answer.text
    return answer.text


def test_a_rename_reaches_every_file(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", rename("visit", "enter"))])
    assert "def enter(shop: Shop, item):" in repo.read("shop.py")
    assert "from shop import Corner, Shop, enter as go" in repo.read("use.py")


def test_a_method_is_renamed_with_those_that_override_it(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", rename("Shop.price", "cost"))])
    assert repo.read("shop.py").count("def cost(self") == 2
    assert "super().cost(item, count)" in repo.read("shop.py")
    assert repo.read("use.py").count(".cost(") == 3


def test_open_places_of_a_rename_make_the_task_red_unless_they_are_accepted(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, {**FILES, "free.py": "def f(thing):\n    return thing.price(1)\n"})
    text = red(repo, [element("shop.py", rename("Shop.price", "cost"))])
    assert "free.py:2: return thing.price(1)" in text
    execute(repo, [element("shop.py", rename("Shop.price", "cost", accept=True))])
    assert "thing.price(1)" in repo.read("free.py")
    assert ".cost(" in repo.read("use.py")


def test_a_rename_that_would_collide_is_refused_with_the_reason(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    text = red(repo, [element("shop.py", rename("visit", "Corner"))])
    assert "Corner" in text


def test_a_rename_goes_on_from_what_earlier_phases_have_changed(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(
        repo,
        [element("shop.py", annotate("visit", "int"))],
        [element("shop.py", add("visit", "fee", argument="2"))],
        [element("shop.py", rename("visit", "enter"))],
    )
    assert "def enter(shop: Shop, item, fee) -> int:" in repo.read("shop.py")
    assert "enter as go" in repo.read("use.py")
    assert 'go(shop, "x", 2)' in repo.read("use.py")


def test_a_rename_of_what_an_earlier_phase_makes_or_uses_waits_for_it(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, {"a.py": "def old(x):\n    return x\n", "b.py": "def f(y):\n    return y\n"})
    template = {"operation": "replace_match", "pattern": "return y", "with": "return old(y)"}
    text = red(repo, [element("b.py", template)], [element("a.py", rename("old", "new"))])
    assert "execute the earlier phase first" in text


def test_a_second_rename_finds_it_done(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", rename("visit", "enter"))])
    plan = repo.create([element("shop.py", rename("visit", "enter"))])
    assert "1 of 1 green" in repo.ask("validate_deltas", plan=plan).text


def test_every_call_passes_the_argument_of_a_new_parameter(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", add("visit", "fee", argument="0.5", after="shop"))])
    assert "def visit(shop: Shop, fee, item):" in repo.read("shop.py")
    assert 'go(shop, 0.5, "x")' in repo.read("use.py")
    assert '        shop,\n        0.5,\n        "y",  # why\n' in repo.read("use.py")


def test_a_method_its_overrides_and_calls_of_every_form_change_together(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    result = repo.create([element("shop.py", add("Shop.price", "rate", argument="7", after="item"))])
    answer = repo.ask("validate_deltas", plan=result)
    assert "1 of 1 green" in answer.text, answer.text
    repo.result("execute_deltas", plan=result, confidence="validated")
    shop, use = repo.read("shop.py"), repo.read("use.py")
    assert shop.count("def price(self, item, rate, count=1):") == 2
    assert "super().price(item, 7, count)" in shop
    assert "shop.price(item, 7)" in shop
    assert 'shop.price("x", count=2, rate=7)' in use
    assert 'Shop.price(shop, "x", 7, 3)' in use
    assert 'Corner("b").price("z", 7, 4)' in use


def test_calls_stay_where_a_default_comes_last(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, {**FILES, "free.py": "from shop import visit\n\nALL = [visit]\n"})
    execute(repo, [element("shop.py", add("visit", "fee", default="0"))])
    assert "def visit(shop: Shop, item, fee=0):" in repo.read("shop.py")
    assert repo.read("use.py") == USE


def test_a_keyword_only_parameter_is_passed_by_name(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", add("visit", "fee", keyword_only=True, argument="1"))])
    assert "def visit(shop: Shop, item, *, fee):" in repo.read("shop.py")
    assert 'go(shop, "x", fee=1)' in repo.read("use.py")


def test_a_default_before_others_is_passed_where_they_are(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", add("Shop.price", "rate", default="1", before="count"))])
    assert 'Shop.price(shop, "x", 1, 3)' in repo.read("use.py")
    assert 'shop.price("x", count=2)' in repo.read("use.py")


def test_an_initializer_is_called_by_its_class_and_its_heirs(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(repo, [element("shop.py", add("Shop.__init__", "town", argument="'b'"))])
    assert "def __init__(self, name, town):" in repo.read("shop.py")
    assert "return Shop(name, 'b')" in repo.read("shop.py")
    assert "Shop(\"a\", 'b')" in repo.read("use.py")
    assert "Corner(\"b\", 'b')" in repo.read("use.py")


def test_static_and_class_methods_have_no_object_among_their_arguments(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(
        repo,
        [element("shop.py", add("Shop.total", "c", argument="3", position="first"))],
        [element("shop.py", add("Shop.named", "d", argument="4"))],
    )
    assert "Shop.total(3, 1, 2)" in repo.read("use.py")
    assert 'Shop.named("c", 4)' in repo.read("use.py")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("list(map(visit, [1]))", "handed on as a value"),
        ("functools.partial(visit, 1)", "handed on as a value"),
        ("visit(*things)", "may hold any arguments"),
        ("visit(**things)", "may hold any arguments"),
        ("visit(1)", "does not fit"),
    ],
)
def test_uses_that_nobody_can_follow_are_listed(tmp_path: Path, line: str, reason: str) -> None:
    more = f"import functools\nfrom shop import visit\n\nthings = [1]\n{line}\n"
    repo = repo_of(tmp_path, {**FILES, "more.py": more})
    text = red(repo, [element("shop.py", add("visit", "fee", argument="1"))])
    assert f"more.py:5: {line}" in text
    assert reason in text
    execute(repo, [element("shop.py", add("visit", "fee", argument="1", accept=True))])
    assert repo.read("more.py") == more
    assert 'go(shop, "x", 1)' in repo.read("use.py")


def test_a_receiver_that_is_not_known_is_listed(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, {**FILES, "free.py": "def f(thing):\n    return thing.price(1)\n"})
    text = red(repo, [element("shop.py", add("Shop.price", "rate", argument="1", after="item"))])
    assert "free.py:2: return thing.price(1) (the receiver's type is unknown)" in text


def test_an_expression_whose_names_are_not_known_at_a_call_is_not_passed(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    text = red(repo, [element("shop.py", add("visit", "fee", argument="FEE"))])
    assert "`FEE` is not known there" in text
    text = red(repo, [element("shop.py", add("visit", "fee"))])
    assert "send `argument`" in text


def test_a_function_without_calls_needs_no_argument_for_them(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, {"shop.py": "def visit(shop):\n    return shop\n"})
    execute(repo, [element("shop.py", add("visit", "fee"))])
    assert "def visit(shop, fee):" in repo.read("shop.py")


def test_a_generator_gets_parentheses_before_a_second_argument(tmp_path: Path) -> None:
    text = "def most(values):\n    return max(values)\n\n\n"
    text += "print(most(x for x in [1]), most(most(y) for y in []))\n"
    repo = repo_of(tmp_path, {"a.py": text})
    execute(repo, [element("a.py", add("most", "least", argument="0"))])
    assert "print(most((x for x in [1]), 0), most((most(y, 0) for y in []), 0))" in repo.read("a.py")


def test_a_removed_parameter_goes_from_calls_by_position_and_by_name(tmp_path: Path) -> None:
    files = {
        "a.py": "def load(url, mode, size=1):\n    return url + str(size)\n",
        "b.py": "import a\n\na.load('u', mode=open('x'), size=2)\na.load('u', 1, 3)\n"
        "a.load(a.load('v', 2), 1)\n",
    }
    repo = repo_of(tmp_path, files)
    plan = repo.create([element("a.py", remove("load", "mode"))])
    answer = repo.ask("validate_deltas", plan=plan)
    assert "4 calls in 1 file changed." in answer.text
    assert "`mode=open('x')` is no longer evaluated" in answer.text
    repo.result("execute_deltas", plan=plan, confidence="validated")
    assert repo.read("b.py") == "import a\n\na.load('u', size=2)\na.load('u', 3)\na.load(a.load('v'))\n"


def test_a_call_inside_an_argument_that_goes_goes_with_it(tmp_path: Path) -> None:
    files = {"a.py": "def f(x, y=0):\n    return y\n\n\nprint(f(f(1, 2), 3))\n"}
    repo = repo_of(tmp_path, files)
    execute(repo, [element("a.py", remove("f", "x"))])
    assert repo.read("a.py").endswith("print(f(3))\n")


def test_fixtures_tests_and_what_the_language_calls_are_refused(tmp_path: Path) -> None:
    files = {
        "test_a.py": "import pytest\n\n\n@pytest.fixture\ndef thing():\n    return 1\n\n\n"
        "def test_it(thing):\n    assert thing\n",
        "b.py": "class B:\n    def __len__(self):\n        return 1\n",
    }
    repo = repo_of(tmp_path, files)
    assert "by the names of its parameters" in red(
        repo, [element("test_a.py", add("thing", "x", argument="1"))]
    )
    assert "by the names of its parameters" in red(
        repo, [element("test_a.py", add("test_it", "x", argument="1"))]
    )
    assert "The language itself calls __len__" in red(
        repo, [element("b.py", add("B.__len__", "x", argument="1"))]
    )


def test_a_decorator_that_is_not_known_is_an_open_place(tmp_path: Path) -> None:
    files = {"a.py": "import click\n\n\n@click.command()\ndef run(x):\n    return x\n\n\nrun(1)\n"}
    repo = repo_of(tmp_path, files)
    text = red(repo, [element("a.py", add("run", "y", argument="1"))])
    assert "may call it itself" in text


def test_functions_that_call_each_other_in_a_circle_are_changed(tmp_path: Path) -> None:
    files = {
        "a.py": "import b\n\n\ndef ping(n):\n    return b.pong(n - 1)\n",
        "b.py": "def pong(n):\n    import a\n\n    return a.ping(n) if n else pong(n)\n",
    }
    repo = repo_of(tmp_path, files)
    execute(
        repo,
        [element("a.py", add("ping", "k", argument="1")), element("b.py", add("pong", "k", argument="n"))],
    )
    assert "return b.pong(n - 1, n)" in repo.read("a.py")
    assert "return a.ping(n, 1) if n else pong(n, n)" in repo.read("b.py")


def test_many_changes_of_one_file_in_one_phase_build_on_each_other(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    execute(
        repo,
        [
            element("shop.py", add("visit", "a", argument="1"), add("visit", "b", argument="2")),
            element("shop.py", remove("visit", "a")),
            element("shop.py", add("Shop.price", "c", argument="3", keyword_only=True)),
        ],
    )
    assert "def visit(shop: Shop, item, b):" in repo.read("shop.py")
    assert 'go(shop, "x", 2)' in repo.read("use.py")


def test_an_argument_without_call_sites_is_refused_when_it_is_written(tmp_path: Path) -> None:
    repo = repo_of(tmp_path)
    wrong = {**add("visit", "a", argument="1"), "call_sites": False}
    with pytest.raises(DeltaInvalid, match="call_sites"):
        repo.create([element("shop.py", wrong)])


TYPESCRIPT = {
    "a.ts": """\
export class Shop {
  constructor(private name: string) {}
  price(item: string, count = 1): number {
    return item.length * count;
  }
}
export class Corner extends Shop {
  constructor() {
    super('c');
  }
  price(item: string, count = 1): number {
    return super.price(item, count);
  }
}
export const both = (a: number) => a;
""",
    "b.ts": """\
import { Shop, both as two } from './a';

const shop: Shop = new Shop('x');
shop.price('a', 3);
two(1);
[1].map(two);
""",
}


def test_calls_of_typescript_follow_methods_and_constructors(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, TYPESCRIPT)
    execute(
        repo,
        [element("a.ts", add("Shop.price", "rate", type="number", argument="8", after="item"))],
        [element("a.ts", add("Shop.constructor", "town", type="string", argument="'t'"))],
    )
    assert repo.read("a.ts").count("price(item: string, rate: number, count = 1): number {") == 2
    assert "super.price(item, 8, count)" in repo.read("a.ts")
    assert "super('c', 't');" in repo.read("a.ts")
    assert "new Shop('x', 't');\nshop.price('a', 8, 3);" in repo.read("b.ts")


def test_a_callback_may_be_passed_more_than_a_default_expects(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, TYPESCRIPT)
    text = red(repo, [element("a.ts", add("both", "z", default="1"))])
    assert "b.ts:6: [1].map(two);" in text


def test_prototypes_and_calls_of_c_follow_and_macros_are_listed(tmp_path: Path) -> None:
    files = {
        "a.h": "#ifndef A_H\n#define A_H\nint load(const char *path, int mode);\n#endif\n",
        "a.c": '#include "a.h"\n\nint load(const char *path, int mode)\n{\n\treturn mode;\n}\n',
        "b.c": '#include "a.h"\n\n#define LOAD(p) load(p, 0)\n\nint run(void)\n{\n'
        '\treturn load("a",\n\t\t    load("b", 2)) + LOAD("q");\n}\n',
    }
    repo = repo_of(tmp_path, files)
    change = add("load", "size", type="int", argument="7", after="path")
    assert "b.c:3: #define LOAD(p) load(p, 0) (it stands in a macro)" in red(repo, [element("a.c", change)])
    execute(repo, [element("a.c", {**change, "accept": True})])
    assert "int load(const char *path, int size, int mode);" in repo.read("a.h")
    assert '\treturn load("a",\n\t\t    7,\n\t\t    load("b", 7, 2)) + LOAD("q");\n' in repo.read("b.c")


RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """\
mod price;

pub struct Shop;

impl Shop {
    pub fn visit(&self, item: &str, count: usize) -> usize {
        price::cost(item) * count
    }
}

pub fn run(shop: &Shop) -> usize {
    let total = shop.visit("a", 1) + Shop::visit(shop, "b", 2) + price::cost("c");
    assert!(price::cost("d") > 0);
    ["e"].iter().map(|one| price::cost(one)).sum::<usize>() + total
}
""",
    "src/price.rs": "pub fn cost(item: &str) -> usize {\n    item.len()\n}\n",
}


def test_calls_of_rust_follow_by_path_and_by_method_and_macros_are_listed(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, RUST)
    execute(
        repo,
        [element("src/lib.rs", add("Shop.visit", "fee", type="usize", argument="7", after="item"))],
        [element("src/price.rs", add("cost", "rate", type="usize", argument="8", accept=True))],
    )
    text = repo.read("src/lib.rs")
    assert "pub fn visit(&self, item: &str, fee: usize, count: usize) -> usize {" in text
    assert 'shop.visit("a", 7, 1) + Shop::visit(shop, "b", 7, 2) + price::cost("c", 8);' in text
    assert "price::cost(item, 8) * count" in text
    assert "price::cost(one, 8)" in text
    assert 'assert!(price::cost("d") > 0);' in text


def test_a_call_inside_a_macro_of_rust_makes_the_task_red(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, RUST)
    text = red(repo, [element("src/price.rs", add("cost", "rate", type="usize", argument="8"))])
    assert 'src/lib.rs:13: assert!(price::cost("d") > 0);' in text


def test_a_forward_declaration_of_c_changes_with_its_definition(tmp_path: Path) -> None:
    text = "static int f(int a);\n\nstatic int f(int a)\n{\n\treturn a;\n}\n\nint g(void) { return f(1); }\n"
    repo = PlanRepo(tmp_path, {"m.c": text})
    change = {"operation": "add_parameter", "target": "f", "name": "b", "type": "int", "argument": "2"}
    execute(repo, [element("m.c", {**change, "call_sites": True})])
    assert repo.read("m.c") == text.replace("int a)", "int a, int b)").replace("f(1)", "f(1, 2)")


def test_a_function_that_is_its_module_is_called_by_names_of_others(tmp_path: Path) -> None:
    files = {
        "wrap.js": "function wrap (a) { return a }\n\nmodule.exports = wrap\n",
        "use.js": "const other = require('./wrap')\n\nother(1)\n",
    }
    repo = repo_of(tmp_path, files)
    transform = add("wrap", "store", argument="true")
    result = repo.result("delta_try", elements=[element("wrap.js", transform)])
    assert result["outcome"] == "red"
    assert "wrap.js:3: module.exports = wrap (it is the module itself" in result["problems"][0]
    accepted = repo.result("delta_try", elements=[element("wrap.js", {**transform, "accept": True})])
    assert accepted["outcome"] == "green"


def test_a_function_that_is_called_by_a_computed_name_is_listed(tmp_path: Path) -> None:
    files = {
        "tools.js": "function wrap (a) {}\nfunction join (a) {}\nmodule.exports = { wrap, join }\n",
        "use.js": "const tools = require('./tools')\n;['wrap'].map(name => tools[name](1))\ntools.join(1)\n",
    }
    repo = repo_of(tmp_path, files)
    result = repo.result("delta_try", elements=[element("tools.js", add("wrap", "b", argument="true"))])
    assert result["outcome"] == "red"
    assert "use.js:2: ;['wrap'].map" in result["problems"][0]
    execute(repo, [element("tools.js", add("join", "b", argument="true"))])
    assert repo.read("use.js").endswith("tools.join(1, true)\n")
