# Each target sets up what it needs from a bare checkout: python3 with venv is enough. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := up

PYTHON ?= python3
PY := .venv/bin/python
# What the product needs, and what developers need besides.
BASE_STAMP := .venv/.base
STAMP := .venv/.synced
NODE_STAMP := node_modules/.synced

# Tests over real data files run where such a folder stands beside the checkout, or where this names one.
CONSILIUM_REAL_DATA ?= $(firstword $(dir $(wildcard ../*/data/healthbench_sample.jsonl)))
export CONSILIUM_REAL_DATA

# Else every process of the tests compiles all that it imports, each time anew.
unexport PYTHONDONTWRITEBYTECODE

# Every sixth second of a test is waiting, so two cores have room for a third process.
TEST_PROCESSES ?= 3
# Those of `make check` wait little, and each process takes eight seconds to import and collect.
CHECK_PROCESSES ?= 2
PYTEST_ARGS ?=
# Which tests `make test` runs, such as T=tests/annotation; all without it.
T ?=

# The commit whose pages `make golden` compares with those of now.
BASE ?= main
GOLDEN := var/golden
JS_TESTS = $(shell find tests/js -name "*.test.js")

# For recipes that need a package of the system: as root with apt it is installed, else one line says how to get it.
SYSTEM_PACKAGES = \
  there() { command -v "$$1" >/dev/null; }; \
  install() { \
    apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$1; }; \
  may_install() { [ "$$(id -u)" = 0 ] && there apt-get; }; \
  need() { \
    if may_install; then echo "Installing $$2 …"; install "$$2" >/dev/null; \
    else echo "$$1. Install it (Debian: sudo apt-get install $$2) and run again." >&2; exit 1; fi; };

.PHONY: up restore help check quick test lint format shell golden lock audit browser node clean

up: $(BASE_STAMP) ## start everything with the demo: database, web server, worker, clock
	@exec $(PY) manage.py up

# The backup to restore.
FILE ?=

restore: $(BASE_STAMP) ## restore FILE=backup.tar into an empty CONSILIUM_HOME; start with make up then
	@test -n "$(FILE)" || { echo "Name the backup: make restore FILE=consilium-….tar" >&2; exit 1; }
	@exec $(PY) manage.py restore "$(FILE)"

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Linters and tests run side by side, and each prints its output in one piece when it ends.
check: $(STAMP) $(NODE_STAMP) ## lint, and run the tests not marked slow, before each commit
	@SECONDS=0; hint=; \
	[ -d .mypy_cache ] || hint=" mypy had no cache; a second run is faster."; \
	$(MAKE) --no-print-directory --jobs=2 --keep-going --output-sync=target lint quick && end=passed || end=failed; \
	echo "make check $$end after $$SECONDS s.$$hint"; \
	[ $$end = passed ]

quick: $(STAMP) node
	@node --test --test-reporter=dot $(JS_TESTS)
	@exec $(PY) -m pytest -q -n $(CHECK_PROCESSES) -m "not slow" $(T) $(PYTEST_ARGS)

test: $(STAMP) browser node ## run the tests: all, or T=tests/annotation
	@node --test --test-reporter=dot $(JS_TESTS)
	@exec $(PY) -m pytest -n $(TEST_PROCESSES) $(T) $(PYTEST_ARGS)

format: $(STAMP) $(NODE_STAMP) ## format Python, templates, scripts and style sheets
	@$(PY) -m ruff check --quiet --select I --fix .
	@$(PY) -m ruff format --quiet .
	@.venv/bin/djangofmt --quiet templates consilium/templates
	@node_modules/.bin/biome check --write --log-level=error

shell: $(BASE_STAMP) ## open a Python shell on the database of `make up`
	@exec $(PY) manage.py shell

lint: $(STAMP) $(NODE_STAMP) ## check style, types, layers, templates, scripts and settings
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/djangofmt --check --quiet templates consilium/templates
	@.venv/bin/djangofmt check --output-format concise templates consilium/templates
	@.venv/bin/djlint --lint --quiet templates
	@node_modules/.bin/biome ci --error-on-warnings
	@node_modules/.bin/tsc --noEmit --project .
	@$(PY) -m mypy
	@.venv/bin/lint-imports
	@$(PY) -m tests.design.withdrawn_words
	@$(PY) -m tests.design.line_lengths
	@$(PY) manage.py makemigrations --check --dry-run
	@env SECRET_KEY="$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))')" DEBUG=0 \
	  SITE_URL=https://consilium.example.org $(PY) manage.py check --deploy --fail-level WARNING

golden: $(STAMP) browser ## compare every page with the templates and style sheets of BASE=<commit>
	@rm -rf $(GOLDEN) && mkdir -p $(GOLDEN)/base
	@git archive $(BASE) templates consilium/templates static | tar -x -C $(GOLDEN)/base
	@git diff --find-renames -l0 --diff-filter=R --name-status $(BASE) -- templates | while read -r _ old new; do \
	  mkdir -p "$(GOLDEN)/base/$$(dirname "$$new")" && cp "$(GOLDEN)/base/$$old" "$(GOLDEN)/base/$$new"; done
	@GOLDEN_BEFORE=$(CURDIR)/$(GOLDEN)/base $(PY) -m pytest -n 0 tests/golden/golden_pages.py tests/golden/golden_layout.py

lock: .venv/bin/uv ## compile the pins anew, for every Python that pyproject.toml allows
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url pyproject.toml -o requirements/base.txt
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --extra dev pyproject.toml -c requirements/base.txt -o requirements/dev.txt

audit: $(STAMP) ## ask PyPI, OSV and npm about known vulnerabilities of the pins
	@exec $(PY) -m tests.design.audit

# Where the developers' tools are installed they stay: the pins of dev.txt contain those of base.txt.
$(BASE_STAMP): requirements/base.txt .venv/bin/uv
	@if [ -e $(STAMP) ]; then pins=dev; else pins=base; fi; \
	.venv/bin/uv pip sync --quiet --python $(PY) requirements/$$pins.txt
	@touch $@

$(STAMP): requirements/dev.txt .venv/bin/uv
	@.venv/bin/uv pip sync --quiet --python $(PY) requirements/dev.txt
	@touch $@ $(BASE_STAMP)

.venv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Consilium needs Python 3.11 or newer.")'
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@.venv/bin/pip install --quiet --disable-pip-version-check uv

# The browser tests drive the system's Chromium, in its lighter form where there is one; one test wants a Redis server.
browser: ## install Chromium and Redis for the tests, where that is allowed
	@$(SYSTEM_PACKAGES) \
	if [ -z "$${CHROMIUM:-}" ] && ! there chromium-headless-shell; then \
	  { may_install && echo "Installing chromium-headless-shell …" && install chromium-headless-shell >/dev/null 2>&1; } \
	  || there chromium || there chromium-browser || there google-chrome || need "The tests need chromium" chromium; \
	fi; \
	there redis-server || need "The tests need redis-server" redis-server

# Biome and TypeScript, which check scripts and style sheets.
$(NODE_STAMP): package.json package-lock.json | node
	@npm ci --loglevel=error >/dev/null
	@touch $@

node: ## install Node.js for scripts and style sheets, where that is allowed
	@$(SYSTEM_PACKAGES) \
	{ there node && there npm; } || need "make test, format and lint need Node.js with npm (https://nodejs.org)" "nodejs npm"

clean: ## remove the caches of the tools
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
