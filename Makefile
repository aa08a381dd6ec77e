# The one way in, for people and for CI. Every target may be called first, on a fresh clone, and with -j.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup web types docs pictures run test check fix bench rest chaos fuzz test-clients lock clean system always

# Recipes use relative paths only, so that the folder's own path may contain spaces.
BIN := .venv/bin
VENV := .venv/.ready
NODE_MODULES := web/node_modules/.ready
CODEGEN := web/codegen/node_modules/.ready
SITE_PARTS := web/site/node_modules/.ready
PAGE := src/gemba/api/page/index.html
WEB_SOURCES := $(shell find web -name node_modules -prune -o -path web/site -prune -o -type f -print)

# Bytecode is kept: without it every process that a test starts would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

# One more than there are cores: many tests wait for processes that they started.
WORKERS := $(shell cores=$$(nproc 2>/dev/null || echo 2); echo $$(( cores < 4 ? cores + 1 : 4 )))
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal
# The long forms draw a new seed each time and print it; SEED=… repeats a run.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
FULL := GEMBA_TEST_EFFORT=full GEMBA_TEST_SEED=$(SEED) $(PYTEST) --timeout 3600

help: ## print this
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

setup: $(VENV) $(PAGE) ## make .venv, with gemba in .venv/bin, bin/ for PATH, and the page

web: $(PAGE) ## build the page

types: $(VENV) $(CODEGEN) ## write the page's types anew, from what the API says of itself
	$(BIN)/python -m gemba.api.openapi > web/openapi.json
	scripts/with-node npm --prefix codegen run --silent types

docs: $(VENV) $(SITE_PARTS) ## build the documentation's site into dist/docs; a link that leads nowhere fails it
	scripts/site

pictures: setup system ## make the screenshots of docs/images anew, from the demo
	$(BIN)/python scripts/screenshots.py

run: setup ## try it: a temporary workspace with living agents, and the page
	$(BIN)/gemba demo

test: check system $(CODEGEN) ## everything that a change has to pass; ARGS='…' goes to pytest
	scripts/agent-client claude-code || echo "==> going on without it"
	$(PYTEST) --guard --part first -m 'not clients or quick' $(ARGS)

check: setup ## format, lint, types, import ladder, and the page's own checks
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --cache-dir .cache/import-linter
	scripts/with-node npm run --silent check

fix: $(VENV) ## format, and repair what the linter can
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: setup system ## every benchmark, each with its table; ONLY=name for one
	@$(BIN)/python -m compileall -q src/gemba
	@set -e; for file in benchmarks/$(or $(ONLY),[!_]*).py; do \
		name=$$(basename "$$file" .py); echo "==> $$name"; $(BIN)/python -m "benchmarks.$$name"; done

rest: setup system ## what `make test` leaves out for time: the long ones, and more of PostgreSQL
	$(PYTEST) --part rest -m 'not clients' $(ARGS)

chaos: setup system ## the tests that kill and flood, in full; SEED=… repeats a run
	$(FULL) -m 'chaos and not alone' $(ARGS) || test $$? -eq 5
	$(FULL) -m 'chaos and alone' -n 0 $(ARGS) || test $$? -eq 5

fuzz: setup system ## the properties over drawn input, in full; SEED=… repeats a run
	$(FULL) -m fuzz --hypothesis-seed $(SEED) $(ARGS)

test-clients: setup system ## real agent clients from npm, with a scripted model and no network
	scripts/agent-client claude-code codex gemini-cli opencode mcp-inspector mcp-conformance || echo "==> going on with the others"
	$(PYTEST) -m clients $(ARGS)

lock: $(VENV) ## pin the newest versions that pyproject.toml allows
	scripts/lock

clean: ## remove everything that make made
	rm -rf .venv bin .cache dist src/gemba/api/page web/node_modules web/codegen/node_modules web/site/node_modules
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

system: $(VENV)
	@scripts/system-packages

# .ready names the folder in which .venv was made: its scripts do not survive a move.
$(VENV): requirements.lock pyproject.toml scripts/venv $(if $(shell test "$$(cat $(VENV) 2>/dev/null)" = "$$PWD" || echo moved),always)
	scripts/venv

$(NODE_MODULES): web/package.json web/package-lock.json | $(VENV)
	@echo "==> npm packages"
	scripts/with-node npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(CODEGEN): web/codegen/package.json web/codegen/package-lock.json | $(VENV)
	@echo "==> npm packages that write the page's types"
	scripts/with-node npm --prefix codegen ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(SITE_PARTS): web/site/package.json web/site/package-lock.json | $(VENV)
	@echo "==> npm packages that the site is read with"
	scripts/with-node npm --prefix site ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(WEB_SOURCES) $(NODE_MODULES)
	@echo "==> the page"
	scripts/with-node npm run --silent build
	@touch $@
