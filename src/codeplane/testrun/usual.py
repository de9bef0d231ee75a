"""How people start a runner by hand."""

from collections.abc import Mapping
from typing import Final

USUAL: Final[Mapping[str, str]] = {
    "cargo": "cargo test",
    "ctest": "ctest --test-dir build",
    "dotnet": "dotnet test",
    "go": "go test ./...",
    "gradle": "./gradlew test",
    "jest": "npx jest",
    "maven": "mvn test",
    "minitest": "bundle exec rake test",
    "mix": "mix test",
    "node": "node --test",
    "phpunit": "vendor/bin/phpunit",
    "pytest": "python -m pytest",
    "rspec": "bundle exec rspec",
    "unittest": "python -m unittest",
    "vitest": "npx vitest run",
}
"""A command for each runner, to be started in the directory of the project."""
