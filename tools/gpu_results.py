"""Results of gpu/bench/measure.py, as tools/gpu_table.py and tools/gpu_figure.py look at them."""

import json

READ = "plain read of keys"
READ_BOTH = "plain read of keys and values"
OWN = "decode"


class BadFile(Exception):
    """The results are not as gpu/bench/measure.py writes them."""


class GpuResults:
    """Rows by what they measure; absent and not run are one."""

    def __init__(self, path):
        try:
            self.all = json.loads(path.read_text(encoding="utf-8"))
            self.rows = self.all["rows"]
            self.protocol = self.all["protocol"]
            self.shape = self.all["shape"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise BadFile(f"{path}: not a result of gpu/bench/measure.py ({error})") from error

    def find(self, kernel, kind, requests, length, samples=0, spread=1, scheme=None,
             scores="exact"):
        """A row with times, or None."""
        for row in self.rows:
            if ((row["kernel"], row["type"], row["requests"], row["length"], row["samples"],
                 row["spread"]) == (kernel, kind, requests, length, samples, spread)
                    and "median_us" in row and row.get("scheme") in (None, scheme)
                    and row.get("scores", "exact") == scores):
                return row
        return None

    def own(self, kind, requests, length, samples, spread=1, scheme="systematic",
            scores="exact"):
        return self.find(OWN, kind, requests, length, samples, spread, scheme, scores)

    def dense(self, kind, requests, length):
        """The fastest dense peer, or None."""
        rows = [row for row in self.rows
                if (row["type"], row["requests"], row["length"], row["samples"])
                == (kind, requests, length, 0)
                and row["kernel"] not in (READ, READ_BOTH, OWN) and "median_us" in row]
        return min(rows, key=lambda row: row["median_us"], default=None)

    def kinds(self):
        return list(dict.fromkeys(row["type"] for row in self.rows))

    def steps(self, kind):
        """(requests, length) with rows of ours."""
        return sorted({(row["requests"], row["length"]) for row in self.rows
                       if row["kernel"] == OWN and row["type"] == kind and "median_us" in row})

    def samples(self):
        """Budgets of the tables: those of the default scheme."""
        return sorted({row["samples"] for row in self.rows if row["kernel"] == OWN
                       and row.get("scheme") == "systematic" and row["spread"] == 1
                       and row.get("scores", "exact") == "exact"} - {0})

    def peers(self):
        """Dense and published kernels: name to the reason why none of its rows ran, or None."""
        reasons = {}
        for row in self.rows:
            name = row["kernel"]
            if name in (READ, READ_BOTH, OWN):
                continue
            ran = "median_us" in row
            if ran or name not in reasons:
                reasons[name] = None if ran else row["not_run"]
        return reasons

    def provenance(self):
        device, versions = self.all["device"], self.all.get("peers", {})
        clocks = ""
        if "sm_clock_max_mhz" in device:
            clocks = (f", clocks up to {device['sm_clock_max_mhz']} MHz, memory "
                      f"{device['memory_clock_max_mhz']} MHz")
        peers = "".join(f", {name} {version}" for name, version in versions.items())
        heads = "/".join(str(self.shape[name])
                         for name in ("query_heads", "kv_heads", "head_dimension"))
        return (f"{device['name']}{clocks}, driver {device['driver']}, {device['toolkit']}{peers}; "
                f"{self.all['date']}, commit {self.all['commit']}. Cold cache: "
                f"{self.protocol['cold_cache']}; median of {self.protocol['runs']} by "
                f"{self.protocol['clock']}; an empty launch takes "
                f"{self.all['empty_launch_us']:.1f} us. Shape {heads}, microseconds.")


def step_name(requests, length):
    return f"{requests} x {length // 1024}k"
