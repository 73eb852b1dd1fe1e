# A fresh machine needs git, make and Python 3.11 or later with venv. `make run` serves, `make test` tests.

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
PYTEST := $(BIN)/python -m pytest

# A virtual environment whose Python is gone (an upgraded system) is made anew.
ifneq ($(wildcard $(VENV)/pyvenv.cfg),)
ifneq ($(shell $(BIN)/python -c 'print("ok")' 2>/dev/null),ok)
$(shell rm -rf $(VENV))
endif
endif

.PHONY: run test test-all bench check lock upgrade clean format
.DELETE_ON_ERROR:

run: $(VENV)/.run
	@exec $(BIN)/hearthmind serve

test: $(VENV)/.dev
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.dev
	$(PYTEST)

bench: $(VENV)/.dev
	@for script in tests/bench/*/measure.py; do echo "== $$script"; \
		$(BIN)/python -m "$$(echo "$${script%.py}" | tr / .)" || exit 1; done

check: $(VENV)/.dev
	$(BIN)/python ops/lock.py check
	$(BIN)/python ops/env_example.py check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(VENV)/.dev
	$(BIN)/python ops/lock.py

upgrade: $(VENV)/.dev
	$(BIN)/python ops/lock.py upgrade

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find services tests ops -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "Hearthmind needs Python 3.11 or later, and found none. Install one, or name it:" \
		"make run PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is older than Python 3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv. On Debian or Ubuntu:" \
		"sudo apt install python3-venv (or python3.x-venv for that version)" >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.run: $(VENV)/pyvenv.cfg requirements.lock requirements-build.lock pyproject.toml
	@echo "Installing what requirements.lock names (once; a few hundred MB)"
	@$(INSTALL) -r requirements.lock -r requirements-build.lock
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	@echo "Installing what the tests and checks need"
	@$(INSTALL) -r requirements-dev.lock
	@touch $@
