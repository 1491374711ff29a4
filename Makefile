# make run  [ARGS="sampler=dropout ratio=0.8"]   set up .venv once, then run the main job
# make test                                      set up everything the tests need, then run them
# make coverage                                  the unit tests again, and which lines they miss
# make agreement                                 compare the influence with that of another library
# make benchmarks  [ARGS="a c --quick"]          measure against other libraries, into benchmarks/RESULTS.md (or RESULTS-quick.md)
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PLUGINS := $(sort $(wildcard plugins/*))
ARGS ?=
# Where a folder of real data sets lies beside the checkout, the tests read it.
export UIDS_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: run test lint types unit coverage plugins agreement benchmarks clean

run: .venv/run.stamp
	$(BIN)/uids $(ARGS)

test: lint types unit plugins

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/test.stamp
	$(BIN)/mypy

# One thread a test: the tests themselves run in parallel.
unit: export OMP_NUM_THREADS := 1
unit: export OPENBLAS_NUM_THREADS := 1
unit: .venv/test.stamp
	$(BIN)/pytest -rs -n auto --dist loadgroup $(UNIT)

coverage: UNIT := --cov --cov-report=term:skip-covered
coverage: unit

plugins: .venv/test.stamp
	for plugin in $(PLUGINS); do $(BIN)/pytest $$plugin || exit 1; done

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml | .venv/bin/python
	$(PIP) -e .
	touch $@

.venv/test.stamp: pyproject.toml constraints.txt $(PLUGINS:=/pyproject.toml) | .venv/bin/python
	$(PIP) -c constraints.txt -e '.[torch,parallel,dev]' $(PLUGINS:%=-e ./%)
	touch $@ .venv/run.stamp

# φ against an independent library, in an environment of its own; no part of the tests.
agreement: .venv/run.stamp .venv-peers/stamp
	$(BIN)/python benchmarks/agreement.py .venv-peers/bin/python

# Speed, accuracy and memory against the same libraries, scipy and scikit-learn; hours for all parts.
benchmarks: .venv/run.stamp .venv-peers/stamp
	$(BIN)/python -m benchmarks $(ARGS)

.venv-peers/stamp: constraints.txt Makefile
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet -c constraints.txt torch 'pyDVL[influence]' dattri captum
	touch $@

clean:
	rm -rf .venv .venv-peers dist .mypy_cache .ruff_cache .pytest_cache .coverage
