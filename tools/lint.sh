#!/usr/bin/env bash
# Runs every static check, cheapest first: tools/lint.sh BUILD_FOLDER (configured; it holds the
# compile commands). All checks run even if one fails; exits 1 if any did.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=${1:?usage: tools/lint.sh BUILD_FOLDER}
failed=()
step() {
  local name=$1
  shift
  echo "lint: $name"
  "$@" || failed+=("$name")
}

clang_tidy() {
  # Translation units of the build in the project's own folders; headers come with them.
  python3 - "$build/compile_commands.json" <<'PYTHON' |
import json, os, sys
for entry in json.load(open(sys.argv[1])):
    path = os.path.relpath(entry["file"])
    if path.endswith(".cpp") and not path.startswith(("..", "build")):
        print(path)
PYTHON
    sort -u | xargs -r -P "${JOBS:-1}" -n 1 clang-tidy-14 -p "$build" --quiet --warnings-as-errors='*'
}

shell_scripts() {
  { tools/sources.sh '*.sh' && echo .ci/run; } | xargs shellcheck
}

step "format" tools/format.sh --check
step "project rules" tools/check_style.sh
step "shell scripts" shell_scripts
step "clang-tidy" clang_tidy

if ((${#failed[@]})); then
  echo "lint: failed: ${failed[*]}"
  exit 1
fi
echo "lint: all checks passed"
