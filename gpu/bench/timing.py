"""Time and energy of a launch by the protocol of decode_bench (protocol.cuh)."""

import threading
import time

import torch

FLUSH_BYTES = 512 << 20
WARM_UP = 10
SETTLE_SECONDS = 0.5
SECONDS = 1.4


class Protocol:
    """Cold caches: 512 MB are rewritten before each run; CUDA events around the launch."""

    def __init__(self, runs, energy):
        self._runs = runs
        self._flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self._board = _board() if energy else None

    def time(self, launch):
        """Median, 5 and 95 % in microseconds."""
        times = []
        for run in range(-WARM_UP, self._runs):
            self._flush.fill_(run & 0xff)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            launch()
            end.record()
            end.synchronize()
            if run >= 0:
                times.append(1000 * begin.elapsed_time(end))
        times.sort()
        return tuple(round(times[int(share * (len(times) - 1) + 0.5)], 2)
                     for share in (0.5, 0.05, 0.95))

    def energy(self, launches):
        """Of launches one behind the other, each on other data, as protocol.cuh measures it."""
        if self._board is None:
            return None
        marks, stopped = [], threading.Event()
        watch = threading.Thread(target=_watch, args=(self._board, marks, stopped))
        watch.start()
        try:
            _run_for(SETTLE_SECONDS, launches)
            settled = time.monotonic()
            step_s = _run_for(SECONDS, launches)
            end = time.monotonic()
        finally:
            stopped.set()
            watch.join()
        seen = [mark for mark in marks if settled <= mark[1] <= end]
        if len(seen) < 2:
            return None
        (first_mj, first), (last_mj, last) = seen[0], seen[-1]
        watts = (last_mj - first_mj) / 1000 / (last - first)
        return {"step_mj": float(f"{1000 * watts * step_s:.4g}"), "mean_w": float(f"{watts:.4g}"),
                "step_us": round(1e6 * step_s, 2), "seconds": round(last - first, 2)}


def _run_for(seconds, launches):
    """Mean time of a step; the host stays at most two groups ahead."""
    events = [torch.cuda.Event() for _ in range(2)]
    start, steps, group = time.monotonic(), 0, 0
    while time.monotonic() - start < seconds:
        if group >= 2:
            events[group % 2].synchronize()
        for _ in range(16):
            launches[steps % len(launches)]()
            steps += 1
        events[group % 2].record()
        group += 1
    torch.cuda.synchronize()
    return (time.monotonic() - start) / steps


def _watch(board, marks, stopped):
    """The moves of the counter: a question takes milliseconds, so another thread asks."""
    seen = board()
    while not stopped.wait(0.002):
        energy = board()
        if energy != seen:
            seen = energy
            marks.append((energy, time.monotonic()))


def _board():
    """Reads the energy counter of the current device, in millijoules."""
    import pynvml
    pynvml.nvmlInit()
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    address = (f"{properties.pci_domain_id:08x}:{properties.pci_bus_id:02x}:"
               f"{properties.pci_device_id:02x}.0")
    handle = pynvml.nvmlDeviceGetHandleByPciBusId(address.encode())
    return lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)


def in_graph(launch):
    """A replay of `launch`, so that the host's work is not timed."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            launch()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    return graph.replay
