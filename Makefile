.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
REPO ?= .
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEV_STAMP := $(VENV)/.ready-dev
SOAK_STAMP := $(VENV)/.ready-soak

.PHONY: help run test check format docs bench soak lock clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 14

run: $(STAMP) ## Serve this repository, or REPO=path, and print how to connect
	@$(BIN)/cpl up --root "$(REPO)"

test: $(DEV_STAMP) ## Run the whole test suite
	@$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(DEV_STAMP) ## Check format, lint, types, layers and generated docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/docs.py --check

format: $(DEV_STAMP) ## Format the code and fix what lint can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(DEV_STAMP) ## Write the generated reference pages
	@$(BIN)/python scripts/docs.py

bench: $(DEV_STAMP) ## Measure against floors and peers, as ratios in one run
	@$(BIN)/python -m bench

soak: $(SOAK_STAMP) ## Run the long campaigns
	@$(BIN)/python -m pytest -m soak -n 2

lock: $(DEV_STAMP) ## Resolve the dependencies anew into requirements.lock
	@$(BIN)/python scripts/lock.py

clean: ## Remove everything that make has made
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("CodePlane needs Python 3.11 or later; this is " + sys.version.split()[0] + " (make PYTHON=python3.12 …)" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

# The lock is the whole resolution: a resolver would look for newer releases of what a package names with an extra.
$(STAMP): requirements.lock pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-dev.lock
	@touch $@

$(SOAK_STAMP): requirements-soak.lock $(DEV_STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-soak.lock
	@touch $@
