#!/usr/bin/env bash
# Times the decode kernels and their peers on the device of this machine, one after the other, and prints
# tab-separated values behind lines that say on what and of which commit.
#
#   gpu/bench/measure.sh build/bench-gpu/decode_bench COMMIT > gpu/results/NAME.tsv
set -euo pipefail
if [ $# -ne 2 ]; then
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(dirname "${BASH_SOURCE[0]}")
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader |
  awk -F', ' '{ print "# device\t" $1; print "# driver\t" $2; print "# clocks\t" $3 ", memory " $4 }'
nvcc --version | awk '/release/ { print "# toolkit\tCUDA " $5 }' | tr -d ,
printf '# date\t%s\n# commit\t%s\n' "$(date -u +%F)" "$2"
printf '# protocol\tcold cache: 512 MB rewritten before each run; median, 5 and 95 %% of 40; CUDA events\n'
"$1"
if python3 -c 'import torch' 2>/dev/null; then
  python3 -c 'import torch; print(f"# PyTorch\t{torch.__version__}, cuDNN {torch.backends.cudnn.version()}")'
  python3 "$here/dense_peers.py"
else
  printf '# PyTorch\tnot installed: peers were not run\n'
fi
