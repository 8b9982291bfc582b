# Front door of the project: `make help` lists the targets. The work is done by CMake and tools/*.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.NOTPARALLEL:

PRESET ?= release
FUZZ_SECONDS ?= 60
GPU_RESULTS ?= gpu/results/h200.json
GPU_MEASURE = python3 gpu/bench/measure.py --program $(BUILD)/bench-gpu/decode_bench --json $(GPU_RESULTS) --add
# Parallel jobs: bounded by cores and by memory. `make JOBS=4 ...` overrides.
ifeq ($(origin JOBS),undefined)
JOBS := $(shell tools/jobs.sh)
endif
export JOBS FUZZ_SECONDS

BUILD := $(if $(filter debug sanitize fuzz,$(PRESET)),build-$(PRESET),build)
STAMP := $(BUILD)/.configured-$(PRESET)
PROGRAM := $(BUILD)/bin/santasim

##@ Main
.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## "; print "Usage: make TARGET [JOBS=n] [PRESET=release|debug|sanitize|ci]" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: build ## Install what is missing, build, and run the unit on the shipped trace
	$(PROGRAM) run --json $(BUILD)/demo.json --timeline $(BUILD)/demo-timeline.json
	@echo "Results: $(BUILD)/demo.json; timeline for Perfetto: $(BUILD)/demo-timeline.json"

.PHONY: test
test: configure ## Install what is missing, build everything, and run every test
	cmake --build $(BUILD) --parallel $(JOBS)
	tools/check_test_count.py $(BUILD) tests/minimum_test_count
	ctest --preset $(PRESET) --parallel $(JOBS)

.PHONY: build
build: configure ## Build the program, build/bin/santasim
	cmake --build $(BUILD) --parallel $(JOBS) --target santasim

.PHONY: bench
bench: configure ## Build and run the benchmarks
	cmake --build $(BUILD) --parallel $(JOBS)
	tools/bench.sh $(BUILD)

.PHONY: bench-gpu
bench-gpu: configure ## Time the CUDA kernels and their peers: $(GPU_RESULTS), docs/gpu.md and its figure
	cmake --build $(BUILD) --parallel $(JOBS) --target decode_bench
	rm -f $(GPU_RESULTS)
	$(GPU_MEASURE)
	$(GPU_MEASURE) --steps 1x32768,1x131072,8x32768 --types fp8
	$(GPU_MEASURE) --steps 1x32768 --no-peers --spreads 8
	$(GPU_MEASURE) --steps 1x32768 --no-peers --schemes stratified,independent
	$(GPU_MEASURE) --steps 1x32768 --no-peers --schemes prop --samples 128,1024
	$(GPU_MEASURE) --steps 1x32768 --no-peers --schemes flash --samples 2048
	$(GPU_MEASURE) --steps 1x32768,1x131072 --no-peers --scores bernoulli,bernoulli-group
	$(GPU_MEASURE) --steps 1x32768,8x32768 --samples 256 --energy
	$(MAKE) --no-print-directory gpu-tables

.PHONY: gpu-tables
gpu-tables: ## Write the tables of docs/gpu.md and its figure from $(GPU_RESULTS)
	tools/setup.sh figures
	tools/gpu_table.py $(GPU_RESULTS) docs/gpu.md
	/usr/bin/python3 tools/gpu_figure.py $(GPU_RESULTS) docs/images/gpu_decode.svg
	tools/readme_figures.py gpu $(GPU_RESULTS)

.PHONY: test-gpu-python
test-gpu-python: ## Build the PyTorch operator against the installed PyTorch, and test it
	python3 -m pip install --no-build-isolation --no-deps ./gpu/python
	cd gpu/python && python3 -m pytest tests

.PHONY: models
models: build ## Simulate Llama-3.1-8B to a million tokens; writes docs/models.md (a quarter of an hour)
	tools/setup.sh figures
	/usr/bin/python3 tools/model_report.py $(PROGRAM)

.PHONY: paper
paper: build ## Measure the paper's tables and figures; writes docs/paper.md (minutes)
	tools/setup.sh figures
	$(PROGRAM) paper --out docs
	/usr/bin/python3 tools/paper_figures.py docs

# Python of which `pip install './python[eval]'` was asked; EVAL: arguments of tools/eval_table.py without --out.
EVAL_PYTHON ?= python3
EVAL_OUT ?= $(BUILD)/eval
EVAL_RESULTS ?= docs/eval_results.json
.PHONY: eval-table
eval-table: build ## Ask a model with every method: make eval-table EVAL='--model DIR --task niah:512 ...'; eval-docs
	$(EVAL_PYTHON) tools/eval_table.py $(EVAL) --out $(EVAL_OUT)
	$(EVAL_PYTHON) -m santasim.eval energy $(EVAL_OUT) --program $(PROGRAM) --jobs $(JOBS) > /dev/null
	$(EVAL_PYTHON) -m santasim.eval pack $(EVAL_OUT) $(EVAL_RESULTS)
	$(MAKE) --no-print-directory eval-docs

.PHONY: eval-docs
eval-docs: ## Write docs/eval_results.md and its picture from $(EVAL_RESULTS)
	$(EVAL_PYTHON) -m santasim.eval report $(EVAL_RESULTS) --markdown docs/eval_results.md
	$(EVAL_PYTHON) -m santasim.eval energy $(EVAL_RESULTS) --plot docs/images/eval.svg > /dev/null

.PHONY: budgets-docs
budgets-docs: ## Write docs/budgets_results.md and its pictures from python/results/budgets
	$(EVAL_PYTHON) -m santasim.budgets report python/results/budgets --plots docs/images --markdown docs/budgets_results.md

.PHONY: cosim
cosim: build ## Compare the unit in SystemVerilog with its models, a few hundred requests
	ctest --preset $(PRESET) --verbose --tests-regex '^cosim_on_'

##@ Hardware
.PHONY: formal
formal: ## Prove properties of the RTL with yosys, then show that each proof can fail
	tools/setup.sh synthesis
	tools/formal.py --jobs $(JOBS) --markdown docs/formal.md

.PHONY: synth
synth: ## Synthesise the unit of tiny-test: area by block, slack, comparison with the last results
	tools/setup.sh synthesis
	$(MAKE) --no-print-directory configure
	cmake --build $(BUILD) --parallel $(JOBS) --target santa_rtl_config
	tools/synthesize.py --rtl-config $(BUILD)/bin/santa_rtl_config --expected rtl/synth/expected.json
	tools/synthesize.py --blocks --expected rtl/synth/expected.json
	tools/synthesize.py --selftest

.PHONY: power
power: build ## Energy of blocks' gates in a co-simulation beside the estimate; writes docs/synthesis.md
	tools/setup.sh synthesis
	tools/gate_energy.py --program $(PROGRAM) --selftest --json rtl/synth/power.json
	tools/synthesis_report.py

.PHONY: rtl-coverage
rtl-coverage: setup ## Line and toggle coverage of the RTL by co-simulation, in build-coverage
	tools/rtl_coverage.py --build build-coverage --jobs $(JOBS) --markdown docs/rtl_coverage.md

.PHONY: mutation
mutation: setup ## Share of 500 mutants of the RTL that co-simulation kills, in build-mutants
	tools/setup.sh synthesis
	tools/mutate_rtl.py --build build-mutants --jobs $(JOBS) --markdown docs/mutation.md

.PHONY: bench-rtl
bench-rtl: setup ## Verilated cycles a second of the default unit, SystemC against it, in build-bench-rtl
	cmake -G Ninja -S . -B build-bench-rtl -DCMAKE_BUILD_TYPE=Release \
	  -DSANTA_COSIM_CONFIGS=edge-lpddr5
	cmake --build build-bench-rtl --parallel $(JOBS) --target rtl_bench
	build-bench-rtl/bench-rtl/rtl_bench

.PHONY: timing-diagram
timing-diagram: build ## Draw docs/images/request.svg from a waveform of the unit
	tools/setup.sh synthesis
	tools/timing_diagram.sh $(PROGRAM)

.PHONY: lint-rtl
lint-rtl: setup ## Verilator's warnings on every module, on the unit by parameter set; refused parameters
	tools/lint_rtl.py --jobs $(JOBS)

##@ Development
.PHONY: lint
lint: configure ## Check format, project rules, shell scripts and C++ (clang-tidy)
	tools/setup.sh lint
	tools/lint.sh $(BUILD)

.PHONY: format
format: ## Format the C++ and CUDA sources in place
	tools/setup.sh lint
	tools/format.sh

.PHONY: sanitize
sanitize: ## Build and run every test under AddressSanitizer and UBSan, in build-sanitize
	$(MAKE) --no-print-directory test PRESET=sanitize

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZ_SECONDS (60), in build-fuzz
	tools/setup.sh fuzz
	$(MAKE) --no-print-directory configure PRESET=fuzz
	tools/fuzz.sh build-fuzz

.PHONY: cycle-error
cycle-error: build ## Write docs/cycle_error.md: cycles of the SystemC model against the RTL
	cmake --build $(BUILD) --parallel $(JOBS) --target santa_cycle_error
	$(BUILD)/bin/santa_cycle_error tiny-test configs/rtl/one-head.yaml \
	  configs/rtl/eight-heads.yaml configs/rtl/all-spills.yaml --workloads 20 \
	  --markdown docs/cycle_error.md

.PHONY: cosim-nightly
cosim-nightly: setup ## The same for 32 drawn configurations and 10,000 requests, in build-cosim
	tools/nightly_cosim.py --build build-cosim --jobs $(JOBS) --report docs/cosim_nightly.md

##@ Housekeeping
.PHONY: setup
setup: ## Install the missing Debian packages that the build needs
	@tools/setup.sh build

.PHONY: configure
configure: $(STAMP) ## Configure the build folder once; Ninja repeats it when a CMake file changes

$(STAMP): CMakePresets.json | setup
	cmake --preset $(PRESET)
	@touch $@

.PHONY: clean
clean: ## Remove every build folder
	rm -rf build build-debug build-sanitize build-fuzz build-cosim build-coverage build-mutants \
	  build-bench-rtl
