# Development needs Python 3.11 or newer as `python3` and nothing else; another one: make PYTHON=python3.12 demo
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

RUNS := sample_data/pixels.txt sample_data/projection.txt
DEMO := rankeval $(RUNS) sample_data/qrels.txt -m ndcg@10 mrr@10 map p@10 recall@100
BENCH ?=

.DEFAULT_GOAL := help
.PHONY: help demo test spark check format docs sample bench clean

help:  ## List the targets
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/.installed  ## Install into .venv, score two runs of the sample data
	@echo '$$ $(DEMO)'
	@$(BIN)/$(DEMO)

test: $(VENV)/.installed-dev  ## Run the tests
	$(BIN)/python -m pytest -n $(JOBS) -q -rs -m "not spark"

spark: $(VENV)/.installed-spark  ## Run the tests of the Spark engine (installs PySpark, 450 MB; needs Java 17 or 21)
	$(BIN)/python -m pytest -q -rs -m spark

check: $(VENV)/.installed-dev  ## Lint, format, types, and generated documentation in step with the code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

format: $(VENV)/.installed-dev  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-dev  ## Write the generated parts of README.md again
	$(BIN)/python docs/generate.py

sample: $(VENV)/.installed-dev  ## Make sample_data/ again
	$(BIN)/python sample_data/make_sample.py

bench:  ## Measure against other tools, in .venv-bench (minutes; parts: make bench BENCH='--only small')
	$(PYTHON) benchmarks/run.py $(BENCH)

clean:  ## Remove environments, caches, builds and benchmark data
	rm -rf $(VENV) .venv-bench build dist *.egg-info benchmarks/data .coverage
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'error: `$(PYTHON)` is not Python 3.11 or newer'; echo 'hint: make PYTHON=python3.12 ...'; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo 'hint: on Debian and Ubuntu, install python3-venv'; rm -rf $(VENV); exit 2; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo 'installing rankeval into $(VENV) ...'
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo 'installing rankeval and the development tools into $(VENV) ...'
	@$(PIP) --editable '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-spark: $(VENV)/.installed-dev
	@echo 'installing PySpark into $(VENV) ...'
	@$(PIP) --editable '.[dev,spark]'
	@touch $@
