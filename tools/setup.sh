#!/usr/bin/env bash
# Installs the Debian packages that the project needs and that are missing.
#
#   tools/setup.sh [--check] [GROUP...]
#
# Groups: build (default), lint, fuzz, synthesis, figures. --check only reports.
# Exit codes: 0 all there or installed; 1 (--check only) some are missing; 2 cannot install them.
# SANTA_SKIP_SETUP=1 skips all this, for systems that provide the dependencies in another way.
set -euo pipefail

# package: what it is for
readonly -A kGroups=(
  [build]="
    make: front door of the build
    g++: C++ compiler
    cmake: build description
    ninja-build: build tool
    pkg-config: finds SystemC
    libsystemc-dev: cycle model
    verilator: runs the RTL
    zlib1g-dev: waveforms of the RTL
    libboost-dev: exact arithmetic and statistics in tests, vectors
    libboost-mpi-dev: sweeps over machines
    libopenmpi-dev: the same
    openmpi-bin: mpirun
    python3-plotly: plotly.js, the figures of reports
    chromium: opens reports in tests
    libcli11-dev: command line
    libyaml-cpp-dev: configuration files
    nlohmann-json3-dev: results and trace headers
    libfmt-dev: messages and tables
    libgtest-dev: tests
    libgmock-dev: tests
    libbenchmark-dev: benchmarks
    python3: small tools of the build and the tests
    python3-dev: headers for the Python module
    python3-numpy: arrays of the Python module
    pybind11-dev: the Python module
    python3-pytest: tests of the evaluation
    python3-scipy: intervals of the evaluation
    python3-fastjsonschema: forms of its files
    python3-mpi4py: workers that learn layer budgets
    python3-yaml: description of the register map"
  [lint]="
    clang-format-14: source format
    clang-tidy-14: C++ checks
    shellcheck: shell script checks"
  [fuzz]="
    clang-14: compiler with libFuzzer
    libclang-rt-14-dev: libFuzzer and sanitizer libraries"
  [synthesis]="
    yosys: proofs and synthesis of the RTL
    opensta: slack of the synthesised unit
    iverilog: simulation of netlists
    gtkwave: fst2vcd, waveforms of a run as text
    qflow-tech-osu018: open cell library
    python3-yaml: list of the proofs"
  [figures]="
    python3-matplotlib: plots in documents"
)

fail() {
  echo "setup: $1" >&2
  exit 2
}

distribution() {
  # shellcheck source=/dev/null
  if [[ -r /etc/os-release ]]; then . /etc/os-release; fi
  echo "${ID:-unknown} ${VERSION_ID:-}"
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "not root and no sudo; as root run: $install_line"
    as_root=(sudo)
    [[ -t 0 ]] || as_root=(sudo --non-interactive) # nobody there to type a password
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300
    -o Acquire::Retries=3)
  "${apt[@]}" update || fail "apt-get update failed; as root run: $install_line"
  "${apt[@]}" install --yes --no-install-recommends "${missing[@]}" ||
    fail "apt-get install failed; as root run: $install_line"
}

check_only=0
groups=()
for argument in "$@"; do
  case $argument in
    --check) check_only=1 ;;
    build | lint | fuzz | synthesis | figures) groups+=("$argument") ;;
    *) fail "unknown argument '$argument'; allowed: --check, build, lint, fuzz, synthesis, figures" ;;
  esac
done
((${#groups[@]})) || groups=(build)
if [[ ${SANTA_SKIP_SETUP:-0} == 1 ]]; then exit 0; fi

# Without dpkg everything counts as missing.
installed=" $(dpkg-query --show --showformat='${db:Status-Status}=${Package} ' 2>/dev/null || true)"
missing=()
report=""
for group in "${groups[@]}"; do
  while IFS=: read -r package purpose; do
    package=${package// /}
    [[ -n $package && $installed != *" installed=$package "* ]] || continue
    missing+=("$package")
    report+=$(printf '\n  %-20s%s (%s)' "$package" "$purpose" "$group")
  done <<<"${kGroups[$group]}"
done
if ((${#missing[@]} == 0)); then
  if ((check_only)); then echo "setup: every package of ${groups[*]} is installed"; fi
  exit 0
fi

install_line="apt-get install --no-install-recommends ${missing[*]}"
echo "setup: missing packages:$report"
if ((check_only)); then
  echo "setup: to install them: tools/setup.sh ${groups[*]}"
  exit 1
fi
distribution=$(distribution)
if [[ $distribution != "debian 12" ]]; then
  fail "installs on Debian 12 only (this is $distribution). Install the packages above \
in your system's way, then set SANTA_SKIP_SETUP=1"
fi
install_packages
echo "setup: installed ${missing[*]}"
