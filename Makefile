# make run  [ARGS="sampler=dropout ratio=0.8"]   set up .venv once, then run the main job
# make test                                      set up everything the tests need, then run them
# make soak                                      many more faults and damaged files than make test tries, counted in docs/reliability.md
# make docs                                      the guide as a site, in site/
# make coverage                                  the unit tests again, and which lines they miss
# make agreement                                 compare the influence with that of another library
# make constraints  [ARGS="--upgrade"]            add to constraints.txt what pyproject.toml has and it has not
# make versions                                  the unit tests on the lowest and the newest versions that are allowed, on every Python here
# make benchmarks  [ARGS="a c --quick"]          measure against other libraries, into benchmarks/RESULTS.md (or RESULTS-quick.md)
# make vega                                      the script of the pages' charts anew, after a change of its version
# make rivals  [ARGS="--sets digits --out FILE"]  other tools on the settings of conf/experiment/field.yaml
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PLUGINS := $(sort $(wildcard plugins/*))
ARGS ?=
# Where a folder of real data sets lies beside the checkout, the tests read it.
export UIDS_DATA ?= $(abspath $(wildcard ../shared/data))
# Where the environment says otherwise, Python would compile uids and the tests anew in each of hundreds
# of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test lint types unit coverage soak docs plugins constraints versions versions-of agreement benchmarks rivals vega clean

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

# UIDS_FAULTS: seeded moments of each kind of fault; UIDS_FUZZ: mutants of each file; UIDS_MUTANTS: of
# each config. More of them take longer; the counts of the tests that have passed go into the table.
soak: export OMP_NUM_THREADS := 1
soak: export OPENBLAS_NUM_THREADS := 1
soak: export UIDS_FAULTS ?= 12
soak: export UIDS_FUZZ ?= 300
soak: export UIDS_MUTANTS ?= 300
soak: .venv/test.stamp
	$(BIN)/pytest -q -rs -n auto --dist loadgroup --tally .venv/tally.json $(SOAKED)
	$(BIN)/python tests/reliability.py .venv/tally.json

SOAKED := tests/faults tests/test_determinism.py tests/app/test_hostile_configs.py tests/app/test_stopping.py \
	tests/datasets/test_damaged_files.py tests/datasets/test_malformed_csr.py tests/report/test_damaged_runs.py \
	tests/system

# Strict: a link that leads nowhere, or a page that no menu has, is an error.
docs: export NO_MKDOCS_2_WARNING := 1
docs: .venv/docs.stamp
	$(BIN)/mkdocs build --strict --quiet
	@echo site/index.html

plugins: .venv/test.stamp
	printf '%s\n' $(PLUGINS) | xargs -n 1 -P 2 $(BIN)/pytest -q

# The unit tests in environments of their own: for each Python from 3.10 to 3.13 that pyenv or PATH
# has, one with the lowest version of each dependency in pyproject.toml and one with the newest, as uv
# resolves them. Without torch, of which most builds are large: EXTRAS="parallel dev torch" adds it. For
# one of them: make versions-of PYTHON=python3.12 RESOLUTION=lowest-direct
VERSIONS := 3.10 3.11 3.12 3.13
PYENV_ROOT ?= $(HOME)/.pyenv
PYTHONS ?= $(foreach v,$(VERSIONS),$(firstword \
	$(wildcard $(PYENV_ROOT)/versions/$(v).*/bin/python$(v)) $(shell command -v python$(v))))
RESOLUTION ?= highest
EXTRAS ?= parallel dev
PLACE = .venv-versions/$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')-$(RESOLUTION)
UV := .venv-versions/uv/bin/uv

versions:
	@failed=; for python in $(PYTHONS); do for resolution in lowest-direct highest; do \
		echo "== $$python, $$resolution"; \
		$(MAKE) --no-print-directory versions-of PYTHON=$$python RESOLUTION=$$resolution \
			|| failed="$$failed $$python,$$resolution"; \
	done; done; echo "failed:$${failed:- none}"; test -z "$$failed"

# One thread a test, as in unit. Wheels only: an old release would else be built for a new Python.
versions-of: export OMP_NUM_THREADS := 1
versions-of: export OPENBLAS_NUM_THREADS := 1
versions-of: $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(PLACE)
	$(UV) pip install --quiet --python $(PLACE)/bin/python --resolution $(RESOLUTION) \
		--only-binary numpy --only-binary scipy --only-binary numba --only-binary pyarrow \
		--only-binary matplotlib --only-binary pandas --only-binary scikit-learn \
		-r pyproject.toml $(EXTRAS:%=--extra %)
	$(UV) pip install --quiet --python $(PLACE)/bin/python --no-deps -e .
	$(PLACE)/bin/python -m pytest -q -rs -n auto --dist loadgroup tests

# For every Python and platform at once. Pins that are there stay, unless ARGS is --upgrade or
# "--upgrade-package mypy"; so does the comment at the top.
constraints: $(UV)
	cp constraints.txt .venv-versions/constraints.txt
	echo 'uids[torch,parallel,docs,dev] @ file://$(CURDIR)' | \
		$(UV) pip compile --quiet --universal --python-version $(firstword $(VERSIONS)) \
		--no-annotate --no-header --no-emit-package uids $(ARGS) \
		--output-file .venv-versions/constraints.txt - $(PLUGINS:=/pyproject.toml)
	grep '^#' constraints.txt | cat - .venv-versions/constraints.txt > .venv-versions/commented.txt
	mv .venv-versions/commented.txt constraints.txt

$(UV):
	$(PYTHON) -m venv .venv-versions/uv
	.venv-versions/uv/bin/python -m pip install --quiet --disable-pip-version-check uv

.venv/bin/python:
	@echo "setting up .venv with $$($(PYTHON) --version), once"
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml | .venv/bin/python
	@echo "installing uids and what it stands on (numpy, scipy, scikit-learn, numba, pyarrow, matplotlib, hydra) into .venv: a minute or two, once"
	$(PIP) -e .
	touch $@

# Of torch a build for CPUs, where pip knows of one: the others for Linux bring several gigabytes of GPU
# libraries, which no test uses. Elsewhere the tests of torch are skipped and say so; TORCH_BUILD= takes
# whatever build there is.
TORCH := $(shell sed -n 's/^torch==//p' constraints.txt)
TORCH_BUILD ?= +cpu

.venv/test.stamp: pyproject.toml constraints.txt $(PLUGINS:=/pyproject.toml) | .venv/bin/python
	@echo "installing what the tests need (torch, pytest, mypy, …) into .venv: some minutes, once"
	$(PIP) -c constraints.txt -e '.[parallel,dev]' $(PLUGINS:%=-e ./%)
	$(PIP) -c constraints.txt 'torch==$(TORCH)$(TORCH_BUILD); sys_platform == "linux"' \
		'torch==$(TORCH); sys_platform != "linux"' || { test -n "$(TORCH_BUILD)" && \
		echo "pip finds no build of torch $(TORCH) for CPUs: its tests are skipped (TORCH_BUILD= takes any build)"; }
	touch $@ .venv/run.stamp

.venv/docs.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -c constraints.txt -e '.[docs]'
	touch $@ .venv/run.stamp

# φ against an independent library, in an environment of its own; no part of the tests.
agreement: .venv/run.stamp .venv-peers/stamp
	$(BIN)/python benchmarks/agreement.py .venv-peers/bin/python

# Speed, accuracy and memory against the same libraries, scipy and scikit-learn; hours for all parts.
benchmarks: .venv/run.stamp .venv-peers/stamp
	$(BIN)/python -m benchmarks $(ARGS)

.venv-peers/stamp: constraints.txt Makefile
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet 'torch==$(TORCH)$(TORCH_BUILD); sys_platform == "linux"' \
		'torch==$(TORCH); sys_platform != "linux"' 'pyDVL[influence]' dattri captum
	touch $@

# cleanlab and loss trimming on the very rows that uids is given, one line of JSON a setting.
rivals: ARGS := --out outputs/rivals.jsonl
rivals: .venv/run.stamp .venv-rivals/stamp
	$(BIN)/python -m benchmarks.rivals $(ARGS)

.venv-rivals/stamp: Makefile
	$(PYTHON) -m venv .venv-rivals
	.venv-rivals/bin/python -m pip install --quiet numpy scipy scikit-learn cleanlab
	touch $@

# Vega, Vega-Lite and vega-embed as one script, which is in the package: vl-convert, 84 MB, is not needed
# to use it. Put the hash that this prints into uids/report/page.py, and the versions beside it.
VEGA := uids/report/templates/vega.js.gz
vega:
	$(PYTHON) -m venv .venv-vega
	.venv-vega/bin/python -m pip install --quiet vl-convert-python==1.9.0.post1
	.venv-vega/bin/python -c 'import base64, gzip, hashlib, vl_convert; \
		script = vl_convert.javascript_bundle().encode(); \
		open("$(VEGA)", "wb").write(gzip.compress(script, 9, mtime=0)); \
		print(base64.b64encode(hashlib.sha256(script).digest()).decode())'

clean:
	rm -rf site .venv .venv-peers .venv-rivals .venv-versions .venv-vega dist .mypy_cache .ruff_cache .pytest_cache .coverage
