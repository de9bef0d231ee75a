"""`refactor_move` where files declare packages, include each other or are found by import paths."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.tools.repo import Repo

Moved = Callable[[Mapping[str, str], str, str], Path]


@pytest.fixture
def moved(tmp_path: Path) -> Iterator[Moved]:
    """The root of a repository after a move that is certain."""
    repos: list[Repo] = []

    def make(files: Mapping[str, str], old: str, new: str) -> Path:
        repo = Repo(tmp_path, files)
        repos.append(repo)
        done = repo.result("refactor_move", from_path=old, to_path=new, apply="if_certain")
        assert done["outcome"] == "ok", done
        return repo.root

    yield make
    for repo in repos:
        repo.session.close()


def test_a_package_of_go_is_imported_by_its_new_path_under_its_own_name(moved: Moved) -> None:
    files = {
        "go.mod": "module ex.com/app\n",
        "store/store.go": "package store\n\nfunc Load() int { return 1 }\n",
        "main.go": 'package main\n\nimport (\n\t"ex.com/app/store"\n\tst "ex.com/app/store"\n)\n\n'
        "func main() { store.Load(); st.Load() }\n",
    }
    root = moved(files, "store", "inner/depot")
    assert (root / "main.go").read_text().splitlines()[3:5] == [
        '\tstore "ex.com/app/inner/depot"',
        '\tst "ex.com/app/inner/depot"',
    ]


def test_a_class_of_java_takes_its_package_along(moved: Moved) -> None:
    base = "src/main/java/com/ex"
    files = {
        f"{base}/lib/Store.java": "package com.ex.lib;\n\npublic class Store { Price price; }\n",
        f"{base}/lib/Price.java": "package com.ex.lib;\n\npublic class Price { Store store; }\n",
        f"{base}/App.java": (
            "package com.ex;\n\nimport com.ex.lib.Store;\n\nclass App { Store a; com.ex.lib.Store b; }\n"
        ),
    }
    root = moved(files, f"{base}/lib/Store.java", f"{base}/core/Store.java")
    text = (root / base / "core/Store.java").read_text()
    assert text == "package com.ex.core;\n\nimport com.ex.lib.Price;\n\npublic class Store { Price price; }\n"
    assert "import com.ex.core.Store;" in (root / base / "lib/Price.java").read_text()
    assert (
        "import com.ex.core.Store;\n\nclass App { Store a; com.ex.core.Store b; }"
        in (root / base / "App.java").read_text()
    )


def test_a_package_of_kotlin_follows_its_directory(moved: Moved) -> None:
    files = {
        "src/com/ex/lib/Store.kt": "package com.ex.lib\n\nclass Store\n\nfun load() = Store()\n",
        "src/com/ex/App.kt": "package com.ex\n\nimport com.ex.lib.Store\nimport com.ex.lib.load as l\n\n"
        "fun run(): Store = l()\n",
    }
    root = moved(files, "src/com/ex/lib", "src/com/ex/core")
    assert (root / "src/com/ex/core/Store.kt").read_text().startswith("package com.ex.core\n")
    assert (
        "import com.ex.core.Store\nimport com.ex.core.load as l\n" in (root / "src/com/ex/App.kt").read_text()
    )


def test_a_namespace_of_csharp_follows_its_directory(moved: Moved) -> None:
    files = {
        "Ex/Lib/Store.cs": "namespace Ex.Lib;\n\npublic class Store { }\n",
        "Ex/App/Main.cs": "using Ex.Lib;\n\nnamespace Ex.App;\n\nclass Main { Store s; }\n",
    }
    root = moved(files, "Ex/Lib", "Ex/Core")
    assert (root / "Ex/Core/Store.cs").read_text().startswith("namespace Ex.Core;")
    assert (root / "Ex/App/Main.cs").read_text().startswith("using Ex.Core;")


def test_a_namespace_of_php_follows_its_directory(moved: Moved) -> None:
    files = {
        "composer.json": '{"autoload": {"psr-4": {"App\\\\": "src/"}}}\n',
        "src/Lib/Store.php": "<?php\nnamespace App\\Lib;\n\nclass Store {}\n",
        "src/Main/Run.php": "<?php\nnamespace App\\Main;\n\nuse App\\Lib\\Store;\n\n"
        "function run() { return new Store(); }\n",
        "bin/start.php": "<?php\nrequire __DIR__ . '/../src/Lib/Store.php';\n",
    }
    root = moved(files, "src/Lib", "src/Core")
    assert "namespace App\\Core;" in (root / "src/Core/Store.php").read_text()
    assert "use App\\Core\\Store;" in (root / "src/Main/Run.php").read_text()
    assert "'/../src/Core/Store.php'" in (root / "bin/start.php").read_text()


def test_a_header_is_included_from_its_new_place(moved: Moved) -> None:
    files = {
        "include/app/store.h": '#include "money.h"\nint load(void);\n',
        "include/app/money.h": "typedef int price;\n",
        "src/main.c": '#include "app/store.h"\n#include <app/money.h>\nint main(void) { return load(); }\n',
    }
    root = moved(files, "include/app/store.h", "include/app/deep/store.h")
    assert '#include "app/deep/store.h"' in (root / "src/main.c").read_text()
    assert '#include "../money.h"' in (root / "include/app/deep/store.h").read_text()


def test_a_file_of_ruby_is_required_from_its_new_place(moved: Moved) -> None:
    files = {
        "lib/app/store.rb": "require_relative 'money'\nclass Store; end\n",
        "lib/app/money.rb": "class Money; end\n",
        "lib/app.rb": "require 'app/store'\nrequire_relative 'app/money'\n",
    }
    root = moved(files, "lib/app/store.rb", "lib/app/core/depot.rb")
    assert (root / "lib/app.rb").read_text() == "require 'app/core/depot'\nrequire_relative 'app/money'\n"
    assert "require_relative '../money'" in (root / "lib/app/core/depot.rb").read_text()
