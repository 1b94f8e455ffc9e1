# make reproduce      set up, run the pipeline on the default corpus, write the report
# make test           set up, run the tests, on all cores
# make test-long      the oracles and generators with a large budget: hours
# make lab            open the notebooks in JupyterLab
# make reproduce-all  the same pipeline on every open corpus, in build/all
# make peers          install the parsers of others that the pipeline can run beside ours
# make classifiers    install TiMBL, LIBSVM and LIBLINEAR, which transition-based parsing can learn with
# make cluster        install what parsing and training on several machines need
# make docs           render guides, commands and the Python interface to build/docs, to be read offline
# make bench          speed, memory and start-up against their targets; OLD=../checkout compares with that one
# make reference      the maintainers' run over the reference corpora (after make peers); writes results/reference
# make check          what continuous integration runs
# make lock           renew requirements.lock and environment (needs uv)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
# an environment is tied to its place: one that was copied or moved along with the checkout would run the sources of the
# old folder, or none; it is replaced by a new one
PLACED = test "$$(. $(BIN)/activate 2>/dev/null && echo "$$VIRTUAL_ENV")" = "$$(pwd -P)/$(VENV)"
ifneq ($(shell $(PLACED) && echo here),here)
.PHONY: $(READY)
endif
OUTSIDE := $(PATH)
export PATH := $(CURDIR)/$(BIN):$(PATH)
# a run starts hundreds of Python processes: without byte code each would compile what it imports, two seconds a time
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-long lab reproduce-all peers classifiers cluster docs bench reference check lock

reproduce: $(READY)
	python -m studies.pipeline.run
	@echo "report: $(CURDIR)/results/report/index.html"

# TESTS: which ones, and options of pytest. Those of a file stay together: they share what it trains; tests/conftest.py
# says which files are begun first
test: $(READY)
	python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder $(TESTS)

test-long: $(READY)
	python -m pytest --numprocesses logical --dist worksteal -m long $(TESTS)

lab: $(READY)
	jupyter lab notebooks

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

# --no-compile: byte code is made when a module is first used, not for the many that never are
$(READY): requirements.lock pyproject.toml
	@PATH="$(OUTSIDE)" $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or newer is needed; make PYTHON=/path/to/python3.11")'
	{ $(PLACED) && test -x $(BIN)/pip; } || { rm -rf $(VENV) && PATH="$(OUTSIDE)" $(PYTHON) -m venv $(VENV); }
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
