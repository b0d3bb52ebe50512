# What people and CI run. `make` alone builds; nothing is built twice without need.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
CORE := python/spillway/_core.abi3.so
# Debug builds of the simulator are slow, release builds of its tests slow to link: the dev profile
# is optimised a little (see Cargo.toml), and is the fastest way from a fresh clone to tested.
CARGO_TEST := cargo test --quiet --locked
RUST := $(shell find crates -name tests -prune -o -type f -print) $(wildcard scenarios/*.toml) \
	Cargo.toml Cargo.lock .cargo/config.toml
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

.DEFAULT_GOAL := build
.PHONY: build pgo wheel lock demo test test-rust test-python test-slow loom digests test-rl cluster-test rl fuzz fuzz-rust fuzz-python lint lint-rust lint-python docs check bench bench-ns3 clean

## build: the command line, in .venv/bin/spillway, with the studies
build: $(VENV)/.studies

# What builds, tests and checks is the same everywhere: the lock names versions and their hashes.
$(VENV)/.tools: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

$(CORE): $(VENV)/.tools pyproject.toml $(RUST)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 $(BIN)/maturin develop --release --quiet
	@touch $@

$(VENV)/.studies: $(CORE) studies/pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
		--editable studies
	@touch $@

# Compiled by a profile of the runs in bench/training.py, in a folder of their own. Flags for the
# target stand beside those of .cargo/config.toml; RUSTFLAGS would replace these.
PGO := $(CURDIR)/target/pgo
RUSTFLAGS_KEY = CARGO_TARGET_$(shell rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUSTFLAGS
MATURIN_PGO = env -u RUSTFLAGS $(RUSTFLAGS_KEY)=-Cprofile-use=$(PGO)/runs.profdata \
	VIRTUAL_ENV=$(CURDIR)/$(VENV) PIP_QUIET=1 $(BIN)/maturin

$(PGO)/runs.profdata: bench/profile.sh bench/training.py $(VENV)/.tools pyproject.toml $(RUST)
	RUSTFLAGS_KEY=$(RUSTFLAGS_KEY) bench/profile.sh $(PGO)

## pgo: as build, with a core compiled by a profile of runs, which takes some minutes
pgo: $(PGO)/runs.profdata
	$(MATURIN_PGO) develop --release --quiet --target-dir $(PGO)
	@touch $(CORE)
	@$(MAKE) --no-print-directory build

## wheel: a wheel with that core, in build/wheels
wheel: $(PGO)/runs.profdata
	$(MATURIN_PGO) build --release --quiet --target-dir $(PGO) --out build/wheels

## lock: all locks anew, the newest versions within pyproject.toml's ranges
lock: $(VENV)/.tools
	$(BIN)/pip install --quiet --disable-pip-version-check "uv>=0.13,<0.14"
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" \
		--extra dev pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --constraint requirements.lock \
		--extra train pyproject.toml --output-file requirements-train.lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --constraint requirements.lock \
		--extra ray pyproject.toml --output-file requirements-ray.lock

## demo: how three ways of sharing a buffer treat the traffic of Credence, in a minute or two
demo: build
	mkdir -p demo
	$(BIN)/spillway compare credence --vary switch.sharing=dt,lqd,cs \
		--set duration=200ms --seeds 1..3 \
		--out demo/credence --force --plot demo/credence.png | tee demo/credence.txt

## test: everything that is tested, but for what takes minutes: that is test-slow
test: build test-rust test-python

test-rust: $(VENV)/.tools
	$(CARGO_TEST)

test-python: build
	$(BIN)/pytest -q -n 2 -m "not slow and not cluster"

## test-slow: what takes minutes, and is left out of test
test-slow: build
	cargo test --quiet --locked --profile slow-tests -p spillway-net --test all -- \
		--ignored --skip written::
	$(BIN)/pytest -q -n 2 -m slow
	$(MAKE) loom
	$(MAKE) -j 2 fuzz FUZZ_SECONDS=5

## loom: all orders in which threads that share a run can see each other's work
loom:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --quiet --locked --release \
		-p spillway-engine --lib orders

## digests: what runs and figures come to, kept anew where results numbers have risen
digests: build
	cargo test --quiet --locked --profile slow-tests -p spillway-net --test all -- \
		--ignored written::digests
	$(BIN)/python studies/tests/baseline.py

# torch alone is several GB, so that nothing else needs it.
$(VENV)/.train: $(VENV)/.tools requirements-train.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements-train.lock
	@touch $@

## test-rl: what is skipped without the extra train
test-rl: build $(VENV)/.train
	$(BIN)/pytest -q tests/test_acc_training.py

$(VENV)/.ray: $(VENV)/.tools requirements-ray.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements-ray.lock
	@touch $@

## cluster-test: a Slurm and a Ray on this machine that lose workers; Debian's Slurm, as root
cluster-test: build $(VENV)/.ray
	@command -v slurmctld slurmd sbatch >/dev/null || \
		apt-get install -qq -y --no-install-recommends slurmctld slurmd slurm-client || \
		echo "no Slurm can be installed: its tests are skipped"
	$(BIN)/pytest -q -m cluster tests/cluster

## rl: agents of ACC, trained and not, and the best setting that never changes: docs/learning.md
RL_SEEDS ?= 1 2 3 4 5
ACC := $(BIN)/spillway acc
AGENT := acc-incast --port switch.leaf0.port.0
rl: build $(VENV)/.train
	mkdir -p rl
	$(ACC) best-action $(AGENT) --confirm-seeds 101..108 --confirmed 12 --json >rl/best-action.json
	for seed in $(RL_SEEDS); do \
		train="$(ACC) train $(AGENT) --training-seed $$seed --force"; \
		$$train --out rl/pred-same-$$seed.safetensors && \
		$$train --seeds 101..132 --out rl/pred-other-$$seed.safetensors && \
		$$train --steps 0 --out rl/pred-untrained-$$seed.safetensors || exit 1; \
	done
	$(ACC) train $(AGENT) --gamma 0 --force --out rl/pred-myopic-1.safetensors
	$(ACC) train $(AGENT) --variant acc --force --out rl/acc-same-1.safetensors

## fuzz: every reader of data for FUZZ_SECONDS; seeds are printed, and FUZZ_SEED has one again
FUZZ_SECONDS ?= 300
fuzz: fuzz-rust fuzz-python

fuzz-rust: $(VENV)/.tools
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO_TEST) -p spillway-net --test fuzz -- --ignored --nocapture --test-threads 1

fuzz-python: build
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -q -s tests/test_readers.py

## docs: all pages, with their tables and plots, in build/docs/index.html
docs: build
	$(BIN)/python docs/build.py

## lint: formatting, clippy, documentation, types
lint: lint-rust lint-python

lint-rust: $(VENV)/.tools
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps

lint-python: build
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	$(MAKE) docs

## check: what CI asks for, but for test-slow
check: lint test

## bench: how fast it runs and grows; LQD, forests, the slotted model: docs/performance.md
bench: build
	mkdir -p bench/results
	$(BIN)/spillway bench --json >bench/results/spillway.json
	$(BIN)/spillway bench --growth --runs 3 --json >bench/results/growth.json
	cargo run --quiet --locked --release -p spillway-switch --example lqd | tee bench/results/lqd.txt
	cargo run --quiet --locked --release -p spillway-forest --example forest -- \
		crates/spillway-switch/models/default.safetensors | tee bench/results/forest.txt
	cargo run --quiet --locked --release -p spillway-switch --example shadow | tee bench/results/shadow.txt
	cargo run --quiet --locked --release -p spillway-slotted --example speed | tee bench/results/slotted.txt

## bench-ns3: the same flows in stock ns-3, 6 to 25 minutes (FLOWS=400: half of that)
FLOWS ?= 800
bench-ns3: build
	$(MAKE) -C bench/ns3 deps build
	cargo build --quiet --locked --release --manifest-path bench/yardstick/Cargo.toml
	$(BIN)/python bench/compare_ns3.py --flows $(FLOWS)

clean:
	cargo clean
	rm -rf $(VENV) demo rl build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/spillway/*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
