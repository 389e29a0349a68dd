"""Checks what a sweep over capacities has counted. Times are nobody's promise."""

import argparse
import json
import sys

CAPACITIES = [1024 << power for power in range(7)]
COUNTS = ["capacity", "p50_ns", "p99_ns", "peak", "bound_ns", "refused"]
REALS = ["updates_per_s", "drain_ns"]


def faults(sweep, updates):
    """Yields what is not as it should be."""
    if [row["capacity"] for row in sweep["rows"]] != CAPACITIES:
        yield f"the capacities are not {CAPACITIES}"
    if sweep["decoders"] != 4 or sweep["updates"] != updates:
        yield f"these are not 4 decoders with {updates} updates"
    for row in sweep["rows"]:
        if set(row) != {*COUNTS, *REALS} or any(type(row[key]) is not int for key in COUNTS):
            yield f"{row} has other fields than {COUNTS} and {REALS}"
        elif not 0 < row["peak"] <= row["capacity"]:
            yield f"a peak of {row['peak']} in {row['capacity']} slots"
        elif row["bound_ns"] != int(row["drain_ns"] * row["capacity"]):
            yield f"the bound of {row['capacity']} slots is not slots times drain"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file")
    options.add_argument("--updates", type=int, required=True, help="updates of one run")
    wanted = options.parse_args()
    with open(wanted.file, encoding="utf-8") as file:
        sweep = json.load(file)
    found = list(faults(sweep, wanted.updates))
    if found:
        print(json.dumps(sweep, indent=1), *found, sep="\n", file=sys.stderr)
        sys.exit(1)
    print(f"sweep: {len(sweep['rows'])} capacities, every one of {wanted.updates} updates applied")


main()
