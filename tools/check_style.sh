#!/usr/bin/env bash
# Checks the project's own rules, those that a formatter does not know:
#   - a source file has at most 400 lines, or an entry with a reason in tools/long_files.txt
#   - no path of somebody's machine, no note of unfinished work
#   - every header starts with #pragma once
# Prints each violation as file:line: text and exits 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly kMaxLines=400
readonly kLongFiles=tools/long_files.txt
# Written so that they do not match themselves.
readonly kMachinePath='(^|[^[:alnum:]_.)}*-])/(root|home|tmp|Users)(/|[^[:alnum:]_/]|$)'
readonly kUnfinished='\b(TO[D]O|FIX[M]E|XX[X])\b'

violations=0
violation() {
  echo "$1"
  violations=$((violations + 1))
}

# Reason for the length of a file; empty if there is none.
reason_for() {
  awk -v path="$1" '$1 == path { $1 = ""; print substr($0, 2) }' "$kLongFiles"
}

check_length() {
  local file=$1 lines reason
  lines=$(wc -l <"$file")
  reason=$(reason_for "$file")
  if ((lines > kMaxLines)) && [[ -z $reason ]]; then
    violation "$file:$lines: more than $kMaxLines lines; split it, or give the reason in $kLongFiles"
  elif ((lines <= kMaxLines)) && [[ -n $reason ]]; then
    violation "$kLongFiles: $file has $lines lines only; remove its entry"
  fi
}

check_no_match() {
  local pattern=$1 what=$2 match
  while IFS= read -r match; do
    violation "$match  <- $what"
  done < <(tools/sources.sh | tr '\n' '\0' | xargs -0 grep -nHIE -- "$pattern" || true)
}

while IFS= read -r file; do
  check_length "$file"
done < <(tools/sources.sh '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.sv' '*.svh' '*.py' '*.sh' '*.cmake' \
  CMakeLists.txt Makefile)

while read -r file _; do
  [[ -z $file || $file == \#* || -f $file ]] || violation "$kLongFiles: $file does not exist"
done <"$kLongFiles"

while IFS= read -r file; do
  grep -q '^#pragma once$' "$file" || violation "$file:1: no #pragma once"
done < <(tools/sources.sh '*.hpp' '*.cuh')

check_no_match "$kMachinePath" "path of one machine"
check_no_match "$kUnfinished" "note of unfinished work"

if ((violations)); then
  echo "check_style: $violations violations"
  exit 1
fi
echo "check_style: no violation"
