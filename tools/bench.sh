#!/usr/bin/env bash
# Runs every benchmark program of a build folder: tools/bench.sh BUILD_FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=${1:?usage: tools/bench.sh BUILD_FOLDER}
count=0
for program in "$build"/bench/*; do
  [[ -f $program && -x $program ]] || continue
  echo "bench: $program"
  "$program"
  count=$((count + 1))
done
if ((count == 0)); then
  echo "bench: no benchmark in $build/bench" >&2
  exit 1
fi
