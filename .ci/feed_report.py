"""Checks the shape of a market feed's JSON report, and what else the command line asks for."""

import argparse
import json
import sys

COUNT, REAL, TEXT = int, (int, float), str
PRICE = (int, float, type(None))

BOOK = {
    "symbol": TEXT, "bids": COUNT, "asks": COUNT, "best_bid": PRICE, "best_ask": PRICE,
    "last_id": COUNT, "applied": COUNT, "stale": COUNT, "gaps": COUNT, "level_changes": COUNT,
    "trades": COUNT, "volume": REAL, "tickers": COUNT, "sha256": TEXT,
}
RING = {
    "name": TEXT, "shard": COUNT, "capacity": COUNT, "occupancy": COUNT, "peak": COUNT,
    "refused": COUNT, "drain_ns": PRICE, "age_bound_ns": PRICE,
}
REPORT = {
    "driver": {"name": TEXT, "reason": TEXT},
    "shards": COUNT, "seconds": REAL, "updates": COUNT, "updates_per_s": REAL,
    "age_ns": {"p50": COUNT, "p99": COUNT, "p999": COUNT, "max": COUNT},
    "lane_peak": COUNT, "gaps": COUNT, "malformed": COUNT, "refused": COUNT, "relocations": COUNT,
    "rings": [RING], "holes": {"discarded": COUNT, "snapshots": COUNT},
    "fills": {"timed_out": COUNT, "broken": COUNT, "trips": COUNT},
    "tops": {
        "signals": COUNT, "sets": COUNT, "versions": COUNT, "reads": COUNT, "followed": COUNT,
        "skipped": COUNT,
    },
    "trades": {
        "overflow": TEXT, "published": COUNT,
        "readers": [{"shard": COUNT, "delivered": COUNT, "dropped": COUNT}],
    },
    "limits": {
        "version": COUNT,
        "orders": [{
            "shard": COUNT, "version": COUNT, "versions": COUNT, "checked": COUNT,
            "orders_over": COUNT, "positions_over": COUNT,
        }],
    },
    "recording": {"recorded": COUNT, "dropped": COUNT},
    "control": {"sent": COUNT, "received": COUNT},
    "subscribers": {"served": COUNT, "cut": COUNT},
    "books": [BOOK],
}


def differences(shape, value, path):
    """Yields where a value has another shape than it should."""
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            yield f"{path} has not the fields {sorted(shape)}"
            return
        for key, inner in shape.items():
            yield from differences(inner, value[key], f"{path}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        for index, inner in enumerate(value):
            yield from differences(shape[0], inner, f"{path}[{index}]")
    elif not isinstance(value, shape) or isinstance(value, bool):
        yield f"{path} is {value!r}"


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file")
    options.add_argument("--books", type=int, required=True, help="how many books there are")
    options.add_argument("--driver", help="the driver's name")
    options.add_argument("--reason", default="", help="how the driver's reason begins")
    options.add_argument("--shards", type=int, help="how many shards ran")
    wanted = options.parse_args()
    with open(wanted.file, encoding="utf-8") as file:
        report = json.load(file)
    faults = list(differences(REPORT, report, "report"))
    if not faults:
        driver, ages = report["driver"], report["age_ns"]
        facts = {
            f"{wanted.books} books": len(report["books"]) == wanted.books,
            "a reason": driver["reason"] != "" and driver["reason"].startswith(wanted.reason),
            f"driver {wanted.driver}": wanted.driver in (None, driver["name"]),
            f"{wanted.shards} shards": wanted.shards in (None, report["shards"]),
            "updates": report["updates"] > 0 and report["updates_per_s"] > 0,
            "no trouble": report["gaps"] + report["malformed"] + report["refused"] == 0,
            "a relocation a shard": report["relocations"] >= report["shards"],
            "ages in order": 0 < ages["p50"] <= ages["p99"] <= ages["p999"] <= ages["max"],
            "rings within bounds": all(
                ring["occupancy"] == 0 and ring["peak"] <= ring["capacity"]
                for ring in report["rings"]
            ),
            "a version a set": report["tops"]["sets"] == report["tops"]["versions"] > 0,
            "all trades published": report["trades"]["published"]
            == sum(book["trades"] for book in report["books"]),
            "all trades at every shard": len(report["trades"]["readers"]) == report["shards"]
            and all(
                reader["delivered"] + reader["dropped"] == report["trades"]["published"]
                for reader in report["trades"]["readers"]
            ),
            "every limit at every shard": len(report["limits"]["orders"]) == report["shards"]
            and all(
                orders["version"] == report["limits"]["version"] == orders["versions"] - 1
                for orders in report["limits"]["orders"]
            ),
            "all control received": report["control"]["sent"] == report["control"]["received"],
            "whole hashes": all(len(book["sha256"]) == 64 for book in report["books"]),
        }
        faults = [f"wanted: {fact}" for fact, holds in facts.items() if not holds]
    if faults:
        print(json.dumps(report, indent=1), *faults, sep="\n", file=sys.stderr)
        sys.exit(1)
    print(
        f"report: {driver['name']}, {report['shards']} shards, {report['updates']} updates,"
        f" {report['updates_per_s']:.0f}/s, age p50 {ages['p50']} ns, p99 {ages['p99']} ns"
    )


main()
