#!/usr/bin/env bash
# Lists the project's text files, one a line: tools/sources.sh [NAME_PATTERN...], all by default.
# Looks at the folders, not at git, so that new files count and an unpacked archive works too.
set -euo pipefail
cd "$(dirname "$0")/.."

patterns=()
for pattern in "${@:-*}"; do patterns+=(-o -name "$pattern"); done
# Not build folders, hidden folders (except .ci), caches, and binary data.
find . \( -path './build' -o -path './build-*' -o -path ./gpu/python/build -o -name '.?*' -type d ! -name .ci \
  -o -name __pycache__ \) -prune -o -type f ! -name '*.safetensors' ! -name '*.npy' \
  \( "${patterns[@]:1}" \) -print | sed 's|^\./||' | LC_ALL=C sort
