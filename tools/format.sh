#!/usr/bin/env bash
# Formats the C++ and CUDA sources in place; with --check only reports and exits 1 on a difference.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [[ ${1:-} == --check ]]; then mode=(--dry-run --Werror); fi
tools/sources.sh '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs -r clang-format-14 "${mode[@]}" --style=file
