"""`refactor_move` of a symbol: programs do afterwards what they did before."""

import json
import subprocess
import sys
from pathlib import Path

from tests.tools.conftest import Made

SHOP = {
    "shop/__init__.py": "from shop.store import Store, load\n",
    "shop/names.py": "LABEL = 'a'\n",
    "shop/text.py": '"""Texts."""\n\nimport json\n\n\ndef plain(text):\n    return json.dumps(text)\n',
    "shop/store.py": (
        "import json\nfrom os import path as osp\nfrom .names import LABEL\n\nLIMIT = 3\n\n\n"
        "class Store:\n    limit = LIMIT\n\n\n"
        "# Reads it.\ndef load(name):\n    return json.loads('[\"%s\"]' % (osp.basename(name) + LABEL))\n\n\n"
        "def short(name):\n    return name[:LIMIT]\n\n\n"
        "def both(name):\n    return load(name), Store()\n"
    ),
    "main.py": (
        "import shop.store\nfrom shop import load as read\nfrom shop.store import load, Store\n\n"
        "assert load('x/y') == ['ya'] == read('y') == shop.store.load('y')\n"
        "assert shop.store.both('y')[0] == ['ya'] and Store.limit == 3\n"
        "assert shop.store.short('abcd') == 'abc'\n"
        "from shop import text\nassert text.plain(1) == '1'\n"
    ),
}


def run(root: Path) -> None:
    subprocess.run([sys.executable, "-B", "main.py"], cwd=root, check=True, capture_output=True)


def test_a_function_takes_its_imports_along_and_is_imported_back(made: Made) -> None:
    repo = made(SHOP)
    run(repo.root)
    done = repo.result("refactor_move", symbol="shop.store.load", to_path="shop/text.py", apply="if_certain")
    assert done["outcome"] == "ok", done.get("problems")
    assert done["remarks"] == ["shop/store.py imports load back: it is used or shown there."]
    run(repo.root)
    text = (repo.root / "shop/text.py").read_text()
    assert text.count("import json") == 1
    assert "import json\nfrom os import path as osp\n\nfrom shop.names import LABEL\n\n\ndef" in text
    assert text.endswith(
        "# Reads it.\ndef load(name):\n    return json.loads('[\"%s\"]' % (osp.basename(name) + LABEL))\n"
    )
    assert "def load" not in (repo.root / "shop/store.py").read_text()
    assert "from shop.text import load" in (repo.root / "shop/__init__.py").read_text()
    repo.result("undo")
    run(repo.root)


def test_a_class_that_needs_its_old_module_makes_a_circle_where_that_needs_the_class(made: Made) -> None:
    repo = made(SHOP)
    told = repo.result("refactor_move", symbol="shop.store.Store", to_path="shop/text.py")
    assert told["outcome"] == "refused"
    assert told["problems"] == ["Imports would be circular: shop/store.py → shop/text.py → shop/store.py."]


def test_a_definition_goes_to_a_file_that_is_not_there_yet(made: Made) -> None:
    files = SHOP | {"shop/store.py": SHOP["shop/store.py"].replace("load(name), Store()", "[['ya']], 1")}
    files["main.py"] = "from shop.store import load\nassert load('x/y') == ['ya']\n"
    repo = made(files)
    run(repo.root)
    done = repo.result(
        "refactor_move", symbol="shop.store.load", to_path="shop/reading.py", apply="if_certain"
    )
    assert done["outcome"] == "ok", done.get("problems")
    assert (repo.root / "main.py").read_text().startswith("from shop.reading import load\n")
    assert (repo.root / "shop/reading.py").read_text().startswith("import json\nfrom os import path as osp\n")
    assert "json" not in (repo.root / "shop/store.py").read_text()
    run(repo.root)


def test_what_holds_for_a_whole_file_goes_to_a_new_one_and_has_to_be_in_an_old_one(made: Made) -> None:
    repo = made(
        {
            "a.py": "from __future__ import annotations\n\n\n"
            "class A:\n    def m(self) -> A:\n        import json\n\n"
            "        return json\n\n\nx = 1\n",
            "b.py": "y = 1\n",
            "main.py": "from a import A, x\nassert A and x\n",
        }
    )
    assert repo.result("refactor_move", symbol="a.A", to_path="b.py")["outcome"] == "refused"
    done = repo.result("refactor_move", symbol="a.A", to_path="c.py", apply="if_certain")
    assert done["outcome"] == "ok", done.get("problems")
    run(repo.root)


def test_a_name_that_the_target_has_is_a_collision(made: Made) -> None:
    repo = made(SHOP | {"shop/text.py": "load = 1\n"})
    told = repo.result("refactor_move", symbol="shop.store.load", to_path="shop/text.py")
    assert told["outcome"] == "refused"
    assert told["problems"] == ["`load` is bound already in shop/text.py."]


def test_a_method_and_another_language_are_unsupported(made: Made) -> None:
    repo = made({"a.rb": "def f\nend\n", "b.py": "class A:\n    def m(self): ...\n"})
    assert repo.result("refactor_move", symbol="a.f", to_path="c.rb")["outcome"] == "unsupported"
    assert repo.result("refactor_move", symbol="b.A.m", to_path="c.py")["outcome"] == "unsupported"


def test_a_package_of_relative_imports_gets_relative_imports(made: Made) -> None:
    repo = made(
        {
            "shop/__init__.py": "",
            "shop/store.py": "from .names import LABEL, OTHER\n\n\ndef load():\n    return LABEL\n\n\n"
            "x = OTHER\n",
            "shop/names.py": "LABEL = 1\nOTHER = 2\n",
            "shop/text.py": "#!/usr/bin/env python\nfrom .names import (OTHER,  # two\n)\n\ny = OTHER\n",
            "shop/use.py": "from .store import load\nfrom .text import y\n\nprint(load(), y)\n",
            "shop/more.py": "from .store import (\n    load,\n    x,\n)\n\nprint(load(), x)\n",
            "main.py": "import shop.use\n",
        }
    )
    done = repo.result("refactor_move", symbol="shop.store.load", to_path="shop/text.py", apply="if_certain")
    assert done["outcome"] == "ok", done.get("problems")
    run(repo.root)
    assert "from .names import (LABEL, OTHER,  # two\n)\n" in (repo.root / "shop/text.py").read_text()
    assert (repo.root / "shop/use.py").read_text().startswith("from .text import load, y\n\n")
    assert (
        (repo.root / "shop/more.py")
        .read_text()
        .startswith("from .store import (\n    x,\n)\nfrom .text import load\n\n")
    )


def test_where_every_name_has_a_statement_so_has_the_one_that_comes(made: Made) -> None:
    repo = made(
        {
            "a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
            "b.py": "def e():\n    return 3\n\n\ndef h():\n    return 4\n",
            "main.py": "from a import f\nfrom a import g\nfrom b import e\nfrom b import h\n\nprint(e, f)\n",
        }
    )
    done = repo.result("refactor_move", symbol="a.f", to_path="b.py", apply="if_certain")
    assert done["outcome"] == "ok", done.get("problems")
    run(repo.root)
    text = "from a import g\nfrom b import e\nfrom b import f\nfrom b import h\n\n"
    assert (repo.root / "main.py").read_text().startswith(text)


CIRCLE = {
    "text.py": "LIMIT = 3\n\n\ndef short(text):\n    return text[:LIMIT]\n\n\n"
    "def both(text):\n    return short(text), LIMIT\n",
    "main.py": "from text import both, short\n\nassert both('abcd') == (short('abcd'), 3) == ('abc', 3)\n",
}


def run_from(root: Path, module: str) -> None:
    subprocess.run(
        [sys.executable, "-B", "-c", f"import {module}"], cwd=root, check=True, capture_output=True
    )


def test_a_circle_is_refused_with_the_call_that_avoids_it(made: Made) -> None:
    repo = made(CIRCLE)
    told = repo.ask("refactor_move", symbol="text.short", to_path="cut.py").body
    assert told["result"]["problems"] == ["Imports would be circular: cut.py → text.py → cut.py."]
    (offered,) = told["meta"]["next_actions"]
    tool, _, arguments = offered.partition(" ")
    assert json.loads(arguments) == {
        "from_path": "text.short",
        "to_path": "cut.py",
        "on_cycle": "local_import",
    }
    done = repo.result(tool, **json.loads(arguments))
    assert done["outcome"] == "ok", done.get("problems")
    run(repo.root)
    run_from(repo.root, "cut")


def test_what_stays_imports_inside_functions_where_what_moves_cannot(made: Made) -> None:
    files = CIRCLE | {
        "text.py": CIRCLE["text.py"].replace(
            "short(text):\n    return text[:", "short(text, n=LIMIT):\n    return text[:n][:"
        )
    }
    repo = made(files)
    done = repo.result("refactor_move", symbol="text.short", to_path="cut.py", on_cycle="local_import")
    assert done["outcome"] == "ok", done.get("problems")
    assert "def both(text):\n    from cut import short\n\n    return" in (repo.root / "text.py").read_text()
    run(repo.root)
    run_from(repo.root, "cut")


def test_an_import_in_a_function_makes_no_circle(made: Made) -> None:
    repo = made(
        {
            "a.py": "LIMIT = 3\n\n\ndef f():\n    return LIMIT\n",
            "b.py": "def g():\n    from a import f\n\n    return f()\n",
            "main.py": "from a import LIMIT\nfrom b import g\n\nassert g() == 3 == LIMIT\n",
        }
    )
    done = repo.result("refactor_move", symbol="a.f", to_path="b.py")
    assert done["outcome"] == "ok", done.get("problems")
    run(repo.root)


def test_names_that_are_made_of_the_name_do_not_matter_where_it_stays(made: Made) -> None:
    repo = made(
        {
            "a.py": "KINDS = {}\n\n\ndef keep(cls):\n    KINDS[cls.__name__.lower()] = cls\n    return cls\n",
            "b.py": "from a import KINDS, keep\n\n\nclass Loader:\n    pass\n\n\nkeep(Loader)\n\n\n"
            "def made():\n    return KINDS['loader']\n",
            "main.py": "from b import Loader, made\n\nassert made() is Loader\n",
        }
    )
    done = repo.result("refactor_move", symbol="b.Loader", to_path="c.py")
    assert done["outcome"] == "ok", done.get("doubts")
    run(repo.root)


def test_a_circle_that_another_import_keeps_is_refused(made: Made) -> None:
    """Imports that are local already do not open it, however often they are made local."""
    repo = made(
        {
            "a.py": "LIMIT = 3\n\n\ndef g():\n    return LIMIT\n\n\ndef f():\n    return g()\n\n\n"
            "TABLE = f()\n",
            "b.py": "from a import LIMIT\n\nTOP = LIMIT\n",
        }
    )
    done = repo.result("refactor_move", symbol="a.f", to_path="b.py", on_cycle="local_import")
    assert done["outcome"] != "ok"
    assert "circular" in str(done["problems"])
    assert "def f" in (repo.root / "a.py").read_text()
