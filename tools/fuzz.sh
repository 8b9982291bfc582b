#!/usr/bin/env bash
# Builds and runs each fuzz target for FUZZ_SECONDS: tools/fuzz.sh BUILD_FOLDER (configured).
# The target of tests/fuzz/fuzz_NAME.cpp is fuzz_NAME; its seeds are in tests/fuzz/corpus/NAME, new
# inputs go to BUILD_FOLDER/corpus/NAME, a failing input to BUILD_FOLDER/fuzz_NAME-*.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=${1:?usage: tools/fuzz.sh BUILD_FOLDER}
targets=()
for source in tests/fuzz/fuzz_*.cpp; do
  [[ -f $source ]] && targets+=("$(basename "$source" .cpp)")
done
if ((${#targets[@]} == 0)); then
  echo "fuzz: no target in tests/fuzz" >&2
  exit 1
fi

cmake --build "$build" --parallel "${JOBS:-1}" --target "${targets[@]}"
for target in "${targets[@]}"; do
  name=${target#fuzz_}
  echo "fuzz: $target for ${FUZZ_SECONDS:-60} s"
  mkdir -p "$build/corpus/$name"
  "$build/tests/$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$build/$target-" -print_final_stats=1 "$build/corpus/$name" \
    "tests/fuzz/corpus/$name"
done
echo "fuzz: ${#targets[@]} targets ran without a finding"
