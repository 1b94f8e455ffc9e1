# make reproduce      set up, run the pipeline on the default corpus, write the report
# make test           set up, run the tests, on all cores
# make test-long      run the oracles and generators with a large budget, which takes hours
# make lab            open the notebooks in JupyterLab; LAB adds options of JupyterLab, for instance LAB=--no-browser
# make reproduce-all  run the same pipeline on every open corpus, in build/all
# make peers          install parsers of other projects that the pipeline can compare with ours
# make classifiers    install TiMBL, LIBSVM and LIBLINEAR, which can train transition-based parsers
# make cluster        install the packages for parsing and training on several machines
# make docs           render guides, commands and the Python interface to build/docs for offline reading
# make bench          compare speed, memory and start-up with their targets; OLD=../checkout compares with that checkout
# make reference      run the maintainers' reference run (needs make peers) and write results/reference
# make check          run all checks of continuous integration
# make lock           update the files requirements*.lock (needs uv)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
# A virtual environment is tied to its folder. If it was copied or moved together with the checkout, it would run the
# sources of the old folder, or none. It is therefore replaced by a new one.
PLACED = test "$$(. $(BIN)/activate 2>/dev/null && echo "$$VIRTUAL_ENV")" = "$$(pwd -P)/$(VENV)"
ifneq ($(shell $(PLACED) && echo here),here)
.PHONY: $(READY)
endif
OUTSIDE := $(PATH)
export PATH := $(CURDIR)/$(BIN):$(PATH)
# A run starts hundreds of Python processes. Without byte code, each would compile its imports, which takes two seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-long lab reproduce-all peers classifiers cluster docs bench reference check lock

reproduce: $(READY)
	python -m studies.pipeline.run
	@echo "report: $(CURDIR)/results/report/index.html"

# TESTS selects tests and adds options of pytest. The tests of a file run in one process, because they share trained
# models. tests/conftest.py determines which files start first.
test: $(READY)
	python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder $(TESTS)

test-long: $(READY)
	python -m pytest --numprocesses logical --dist worksteal -m long $(TESTS)

lab: $(READY)
	jupyter lab notebooks $(LAB)

reproduce-all: $(READY)
	python -m studies.pipeline.scratch build/all params/all.yaml --skip-missing

peers: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-peers.lock

classifiers: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-classifiers.lock

cluster: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-cluster.lock

docs: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-docs.lock
	python docs/make.py

bench: $(READY)
	python benchmarks/targets.py $(if $(OLD),--old $(OLD))

reference: $(READY)
	python -m studies.pipeline.reference

check:
	.ci/run

lock:
	uv pip compile pyproject.toml --extra studies --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" -q -o requirements.lock
	for extra in peers cluster docs classifiers; do \
	  python -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")' $$extra \
	  | uv pip compile - --constraint requirements.lock --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" -q -o requirements-$$extra.lock || exit 1; \
	done

# --no-compile avoids byte code for the many modules that are never used; others are compiled at their first import
$(READY): requirements.lock pyproject.toml
	@PATH="$(OUTSIDE)" $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or newer is needed; make PYTHON=/path/to/python3.11")'
	{ $(PLACED) && test -x $(BIN)/pip; } || { rm -rf $(VENV) && PATH="$(OUTSIDE)" $(PYTHON) -m venv $(VENV); }
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
