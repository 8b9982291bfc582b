#!/usr/bin/env bash
# Draws docs/images/request.svg: one recorded request on the unit of tiny-test.
#
#   tools/timing_diagram.sh build/bin/santasim [VECTOR]
set -euo pipefail
cd "$(dirname "$0")/.."

readonly program=$(realpath "${1:?usage: tools/timing_diagram.sh PROGRAM [VECTOR]}")
readonly vector=${2:-traces/vectors/golden-cpu/tiny-test-022.safetensors}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/vectors"
cp "$vector" "$folder/vectors"
(cd "$folder" && "$program" cosim --config tiny-test --vectors vectors --waves always > /dev/null)
tools/timing_diagram.py "$folder"/*.fst -o docs/images/request.svg
