"""`refactor_move`: programs do after a move what they did before."""

import subprocess
import sys
from pathlib import Path

from tests.drive import git
from tests.tools.conftest import Made
from tests.tools.repo import Repo


def move(repo: Repo, old: str, new: str) -> dict[str, object]:
    done = repo.result("refactor_move", from_path=old, to_path=new, apply="if_certain")
    assert done["outcome"] == "ok", done
    assert "applied" in done
    return done


SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
    "conftest.py": "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent / 'src'))\n",
    "src/shop/__init__.py": (
        "from .core import Store\nfrom .core.store import load\n\n__all__ = ['Store', 'load']\n"
    ),
    "src/shop/names.py": "LABEL = 'a'\n",
    "src/shop/parts/__init__.py": "",
    "src/shop/core/__init__.py": "from .store import Store\nfrom . import money\n",
    "src/shop/core/money.py": "from ..names import LABEL\n\n\nclass Price:\n    label = LABEL\n",
    "src/shop/core/store.py": (
        "from . import money as cash\nfrom .money import Price\nimport shop.core.money\n\n\n"
        "class Store:\n    price = Price()\n\n\n"
        "def load():\n    return [cash.Price, shop.core.money.Price, Price]\n"
    ),
    "src/shop/core/data.json": "{}\n",
    "tests/test_shop.py": (
        "import shop.core.store\nimport shop.core.money as m, json\nfrom shop.core import money, store\n"
        "from shop import Store, load\n\n\n"
        "def test_all():\n"
        "    assert load() == [m.Price, money.Price, shop.core.money.Price]\n"
        "    assert store.Store is Store is shop.core.store.Store\n"
    ),
}


def run_tests(root: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(root)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
    )
    return done.stdout


def test_the_tests_of_a_project_pass_after_its_package_has_moved(made: Made) -> None:
    repo = made(SHOP)
    assert "1 passed" in run_tests(repo.root)
    move(repo, "src/shop/core", "src/shop/parts/base")
    assert not (repo.root / "src/shop/core").exists()
    assert (repo.root / "src/shop/parts/base/data.json").exists()
    assert "1 passed" in run_tests(repo.root)
    repo.result("undo")
    assert git(repo.root, "status", "--porcelain") == ""


def test_the_tests_of_a_project_pass_after_one_module_has_moved_out_of_its_package(made: Made) -> None:
    repo = made(SHOP)
    move(repo, "src/shop/core/money.py", "src/shop/cash.py")
    assert "1 passed" in run_tests(repo.root)
    move(repo, "src/shop/names.py", "src/shop/parts/labels.py")
    assert "1 passed" in run_tests(repo.root)
    assert git(repo.root, "status", "--porcelain").count("R") == 2


def test_a_module_on_top_moves_into_a_package_under_its_old_local_name(made: Made) -> None:
    repo = made(
        {"lib/__init__.py": "", "tool.py": "def run(): ...\n", "app.py": "import tool\n\ntool.run()\n"}
    )
    move(repo, "tool.py", "lib/tool.py")
    assert (repo.root / "app.py").read_text() == "import lib.tool as tool\n\ntool.run()\n"


def test_a_name_that_another_module_has_already_is_no_target(made: Made) -> None:
    repo = made({"a.py": "x = 1\n", "b.py": "import a\n", "c/a.py": ""})
    told = repo.result("refactor_move", from_path="a.py", to_path="c/a.py")
    assert told["outcome"] == "refused"
    assert told["problems"] == ["There is a file c/a.py already."]


def test_a_directory_does_not_go_into_itself(made: Made) -> None:
    repo = made({"a/x.py": ""})
    assert repo.result("refactor_move", from_path="a", to_path="a/b")["outcome"] == "refused"


def test_a_name_in_another_case_is_another_name(made: Made) -> None:
    repo = made({"store.py": "x = 1\n", "app.py": "from store import x\n"})
    move(repo, "store.py", "Store.py")
    assert (repo.root / "app.py").read_text() == "from Store import x\n"


def test_a_symbolic_link_in_a_directory_is_said_and_nothing_moves(made: Made) -> None:
    repo = made({"a/x.py": ""})
    (repo.root / "a/y.py").symlink_to("x.py")
    told = repo.result("refactor_move", from_path="a", to_path="b", apply="if_certain")
    assert told["outcome"] == "refused"
    assert (repo.root / "a/x.py").exists()


def test_a_stub_beside_its_module_makes_the_move_unsupported_or_undecided(made: Made) -> None:
    repo = made(
        {"p/__init__.py": "", "p/m.py": "x = 1\n", "p/m.pyi": "x: int\n", "a.py": "from p.m import x\n"}
    )
    told = repo.result("refactor_move", from_path="p/m.py", to_path="p/n.py", apply="if_certain")
    assert told["outcome"] in ("unsupported", "needs_decision")
    assert (repo.root / "p/m.py").exists()


def test_a_package_that_leads_back_to_who_imports_the_module_is_a_doubt(made: Made) -> None:
    repo = made(
        {
            "p/__init__.py": "",
            "p/low.py": "x = 1\n",
            "p/user.py": "from p.low import x\n\n\ny = x\n",
            "p/sub/__init__.py": "from p.user import y\n",
        }
    )
    told = repo.result("refactor_move", from_path="p/low.py", to_path="p/sub/low.py", apply="if_certain")
    assert told["outcome"] == "needs_decision"
    assert "leads back to it" in told["doubts"][0]


WEB = {
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@core/*": ["src/core/*"]}}}\n',
    "src/core/index.ts": "export * from './store';\nexport { Price } from './money';\n",
    "src/core/money.ts": "export class Price { value = 1; }\n",
    "src/core/store.ts": (
        "import { Price } from './money';\nimport type { Name } from '../names';\n"
        "export class Store { price = new Price(); name: Name = 'a'; }\n"
    ),
    "src/names.ts": "export type Name = string;\n",
    "src/app.ts": (
        "import { Store } from '@core/store';\nimport { Price } from '@core/money';\n"
        "import * as core from './core';\n"
        "export const all = [new Store().price, new Price(), new core.Price()];\n"
        "export const later = () => import('./core/store');\n"
    ),
}


def test_a_configured_prefix_follows_a_file(made: Made) -> None:
    repo = made(WEB)
    move(repo, "src/core/store.ts", "src/core/deep/depot.ts")
    assert (repo.root / "src/app.ts").read_text().splitlines()[
        0
    ] == "import { Store } from '@core/deep/depot';"
    assert "import('./core/deep/depot')" in (repo.root / "src/app.ts").read_text()
    text = (repo.root / "src/core/deep/depot.ts").read_text()
    assert "from '../money'" in text
    assert "from '../../names'" in text
    assert (repo.root / "src/core/index.ts").read_text().startswith("export * from './deep/depot';")


def test_a_directory_with_an_index_is_followed_by_relative_specifiers(made: Made) -> None:
    repo = made(WEB)
    told = repo.result("refactor_move", from_path="src/core", to_path="src/lib/inner", apply="never")
    assert told["outcome"] == "needs_decision"  # the configuration names the directory
    assert "+import * as core from './lib/inner';" in told["diff"]
    assert "+import { Store } from './lib/inner/store';" in told["diff"]


CRATE = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": (
        "pub mod core;\npub mod parts;\n\nuse crate::core::store::Store;\n\n"
        "pub fn open() -> Store {\n    core::store::load()\n}\n"
    ),
    "src/core/mod.rs": (
        "pub mod money;\npub mod store;\n\npub fn zero() -> money::Price {\n    money::Price(0)\n}\n"
    ),
    "src/core/money.rs": "#[derive(Default)]\npub struct Price(pub u32);\n",
    "src/core/store.rs": (
        "use super::money::Price;\nuse super::zero;\n\n"
        "#[derive(Default)]\npub struct Store {\n    pub price: Price,\n}\n\n"
        "pub fn load() -> Store {\n    Store { price: zero() }\n}\n\n"
        "#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn loads() {\n        assert_eq!(load().price.0, 0);\n    }\n}\n"
    ),
    "src/parts/mod.rs": "//! Parts.\n\npub mod bolt;\n",
    "src/parts/bolt.rs": "pub fn bolt() -> crate::core::store::Store {\n    crate::core::store::load()\n}\n",
    "tests/all.rs": "#[test]\nfn all() {\n    assert_eq!(shop::core::store::load().price.0, 0);\n}\n",
}


def test_a_module_of_a_crate_moves_with_its_declaration(made: Made) -> None:
    repo = made(CRATE)
    move(repo, "src/core/store.rs", "src/parts/depot.rs")
    assert "pub mod store" not in (repo.root / "src/core/mod.rs").read_text()
    assert (repo.root / "src/parts/mod.rs").read_text() == "//! Parts.\n\npub mod depot;\npub mod bolt;\n"
    text = (repo.root / "src/parts/depot.rs").read_text()
    assert "use crate::core::money::Price;\nuse crate::core::zero;" in text
    assert "    use super::*;" in text
    assert "shop::parts::depot::load()" in (repo.root / "tests/all.rs").read_text()
    assert "crate::parts::depot::load()" in (repo.root / "src/parts/bolt.rs").read_text()


def test_a_module_does_not_leave_what_it_alone_can_see(made: Made) -> None:
    repo = made(CRATE | {"src/core/mod.rs": CRATE["src/core/mod.rs"].replace("pub mod money", "mod money")})
    told = repo.result("refactor_move", from_path="src/core/store.rs", to_path="src/parts/depot.rs")
    assert told["outcome"] == "unsupported"
    assert "`money` is private" in told["problems"][0]


def test_a_string_that_names_the_module_is_found_behind_any_number_of_files_with_the_word(made: Made) -> None:
    files = {f"app/part{number:03}.py": "# some text\n" for number in range(620)}
    repo = made(
        {
            **files,
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
            "app/__init__.py": "",
            "app/text.py": "LONGEST = 3\n",
            "tests/test_cut.py": (
                "from unittest.mock import patch\n\n\n"
                '@patch("app.text.LONGEST", 10)\ndef test_cut():\n    assert True\n'
            ),
        }
    )
    done = repo.result("refactor_move", from_path="app/text.py", to_path="app/words.py")
    assert done["outcome"] == "needs_decision"
    [group] = done["undecided"]
    assert group["sample"] == ['tests/test_cut.py:4: @patch("app.text.LONGEST", 10)']


def test_notes_on_past_releases_keep_the_path_of_the_past(made: Made) -> None:
    texts = {"docs/guide.txt": "See ``app.text``.\n", "docs/releases/1.0.txt": "``app.text`` is new.\n"}
    repo = made({**SHOP, **texts, "app/__init__.py": "", "app/text.py": "LONGEST = 3\n"})
    move(repo, "app/text.py", "app/words.py")
    assert (repo.root / "docs/guide.txt").read_text() == "See ``app.words``.\n"
    assert (repo.root / "docs/releases/1.0.txt").read_text() == texts["docs/releases/1.0.txt"]
