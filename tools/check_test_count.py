#!/usr/bin/env python3
"""Fails when CTest knows fewer enabled tests than the floor, so that no test is lost unnoticed.

usage: check_test_count.py BUILD_FOLDER FLOOR_FILE
"""

import json
import subprocess
import sys
from pathlib import Path


def is_disabled(test: dict) -> bool:
    return any(p["name"] == "DISABLED" and p["value"] for p in test.get("properties", []))


def main(build_folder: str, floor_file: str) -> int:
    listing = subprocess.run(
        ["ctest", "--test-dir", build_folder, "--show-only=json-v1"],
        check=True,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    tests = json.loads(listing.stdout)["tests"]
    count = sum(not is_disabled(test) for test in tests)
    floor = int(Path(floor_file).read_text(encoding="ascii"))
    print(f"{count} tests, {len(tests) - count} disabled; floor {floor} ({floor_file})", flush=True)
    if count < floor:
        print(
            f"error: {floor - count} tests fewer than the floor. Bring them back, or lower the "
            f"floor and say why in the commit.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
