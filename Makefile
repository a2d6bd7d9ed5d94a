# The front door. `make demo` and `make test` do all their own set-up, in .venv.

PYTHON ?= python3
# One for each of two cores: another one imports everything again, which takes longer than it saves.
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin

# Bytecode and compiled kernels are kept, so that each process need not make them again.
export PYTHONDONTWRITEBYTECODE :=

# uv takes a third of pip's time. It does not read pip's settings: where it fails, pip tries.
INSTALL = install() { \
  $(BIN)/uv pip install --quiet --python $(BIN)/python "$$@" || \
  { echo "uv could not install this; pip tries."; \
    $(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" && \
    $(BIN)/python -m pip install --quiet --no-compile "$$@"; }; }; install

# The modules that have compiled kernels.
KERNELS = $(subst /,.,$(patsubst src/%.py,%,$(shell find src -name '*_kernel*.py')))

.DEFAULT_GOAL := help
.PHONY: help demo test tests thorough lowest lint warm format formats bench arena reproduce docs pictures fuzz dist clean

help:
	@echo "make demo    install into .venv and rank examples/quiz.csv"
	@echo "make test    style, types, tests with coverage and doctests"
	@echo "make thorough  the same, with every seed and setting of the tests, then make lowest"
	@echo "make lowest  the tests with the oldest versions of all libraries that may be installed"
	@echo "make lint    style and types only"
	@echo "make format  put the style right"
	@echo "make formats every export that is recognised (docs/formats.md)"
	@echo "make bench   speed, as ratios measured side by side"
	@echo "make arena   every method on every data set (docs/arena.md)"
	@echo "make reproduce  the paper's figures beside its values (docs/reproduction.md)"
	@echo "make docs    the documentation site, in site/; every example is run"
	@echo "make pictures  its screenshots (docs/images; needs Chromium)"
	@echo "make fuzz    hostile input and faults, for some minutes"
	@echo "make dist    wheel and source archive; the wheel tried in an empty environment"
	@echo "make clean   remove .venv and everything that was built"

demo: $(VENV)/.installed
	$(BIN)/hnd rank examples/quiz.csv

# Style and types beside the tests, which leave some time of the cores unused.
test: $(VENV)/.ready
	@$(MAKE) --no-print-directory -j 2 lint tests

# Many tests try a few of their seeds and settings; here they try all.
thorough:
	@HITSNDIFFS_TESTS=thorough $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory lowest

# The lower bounds in pyproject.toml are true. Tools of the tests are as new as they can be beside.
LOWEST := build/lowest
lowest: $(VENV)/.made
	rm -rf $(LOWEST)
	$(BIN)/uv venv --quiet --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
	  --editable ".[plots,web,dask,irt,stats]"
	$(BIN)/uv pip freeze --python $(LOWEST)/bin/python --exclude-editable > $(LOWEST)/versions.txt
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --constraint $(LOWEST)/versions.txt \
	  --group dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(LOWEST)/bin/python -m pytest -q -n $(JOBS) --dist loadgroup tests

tests: warm
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/python -m slipcover -m pytest -n $(JOBS) --dist loadgroup

# Everything is imported and compiled once, before several processes would do it at the same time.
warm: $(VENV)/.ready
	@$(BIN)/python -c "import sys; [__import__(name) for name in sys.argv[1:]]" $(KERNELS) & \
	$(BIN)/python -m pytest --collect-only -q >/dev/null; wait  # the tests tell what is wrong

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

formats: $(VENV)/.ready
	PYTHONPATH=tests $(BIN)/python -m formats docs/formats.md

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/abh_growth.py --largest 100000
	$(BIN)/python benchmarks/pqtree_growth.py

arena: $(VENV)/.ready
	$(BIN)/python -m benchmarks.arena

reproduce: $(VENV)/.ready
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/python -m reproduction all --docs docs/reproduction.md

docs: $(VENV)/.docs
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -E -q -b html docs site
	@echo "The documentation is in site/index.html"

pictures: $(VENV)/.ready
	$(BIN)/python docs/screenshots.py

fuzz: $(VENV)/.ready
	$(BIN)/python -m fuzz $(FUZZ)

dist: $(VENV)/.ready
	rm -rf dist build/wheel-check
	$(BIN)/python -m build --outdir dist .
	$(PYTHON) -m venv build/wheel-check
	build/wheel-check/bin/python -m pip install --quiet dist/*.whl
	build/wheel-check/bin/hnd rank examples/quiz.csv

clean:
	rm -rf $(VENV) dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src reproduction tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up, once; again when the project's settings change.
$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "hitsndiffs needs Python 3.11 or newer, and '$(PYTHON)' was not found." \
	    "Name yours: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "hitsndiffs needs Python 3.11 or newer; '$(PYTHON)' is" \
	    "$$($(PYTHON) --version 2>&1). Name a newer one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "The environment could not be made; on Debian and Ubuntu: apt install python3-venv"; \
	  exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.ready: $(VENV)/.made pyproject.toml
	@$(INSTALL) --editable ".[plots,web,dask,irt,stats]" --group dev
	@touch $(VENV)/.installed $@

$(VENV)/.docs: $(VENV)/.ready
	@$(INSTALL) --group docs
	@touch $@
