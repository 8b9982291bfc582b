#!/usr/bin/env bash
# Prints how many compilers may run at once: one a core, one for each 2 GB of memory that is free
# (or that the container may use, if that is less), at least one.
set -euo pipefail

readonly kKilobytesPerJob=$((2 * 1024 * 1024))

memory_kb=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)

# Memory limits of the control groups that hold this process, version 2 and version 1.
group_v2=$(awk -F: '$1 == "0" { print $3 }' /proc/self/cgroup)
group_v1=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup)
for limit_file in "/sys/fs/cgroup${group_v2%/}/memory.max" /sys/fs/cgroup/memory.max \
  "/sys/fs/cgroup/memory${group_v1%/}/memory.limit_in_bytes" \
  /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  [[ -r $limit_file ]] || continue
  limit=$(<"$limit_file")
  [[ $limit =~ ^[0-9]{1,18}$ ]] || continue # "max": no limit
  if ((limit / 1024 < memory_kb)); then memory_kb=$((limit / 1024)); fi
done

jobs=$(nproc)
if ((memory_kb / kKilobytesPerJob < jobs)); then jobs=$((memory_kb / kKilobytesPerJob)); fi
echo $((jobs < 1 ? 1 : jobs))
