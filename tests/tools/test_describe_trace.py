"""Tests of tools/trace_file.py and tools/describe_trace.py; they need numpy alone.

Run: python3 -m unittest discover -s tests/tools -v
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

try:
    import describe_trace
    import numpy as np
    import trace_file

    MISSING = ""
except ImportError as error:
    MISSING = f"needs {error.name}"

SHIPPED = sorted((ROOT / "traces").glob("*.safetensors"))


def describe(path: Path) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of describe_trace.py."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = describe_trace.main([str(path)])
    return code, output.getvalue(), errors.getvalue()


@unittest.skipIf(MISSING, MISSING)
class TraceFile(unittest.TestCase):
    """Reading and refusing."""

    def setUp(self) -> None:
        """A small valid trace."""
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "trace.safetensors"
        generator = np.random.default_rng(5)
        self.query = generator.standard_normal((4, 8), np.float32)
        self.key = generator.standard_normal((2, 10, 8), np.float32)
        self.value = generator.standard_normal((2, 10, 8), np.float32)
        self.metadata = {
            **{"format": "santasim-trace", "format_version": "1", "layers": "3"},
            **{"softmax_scale": "0.5"},
        }

    def write(self, **tensors: trace_file.StoredTensor) -> None:
        """Writes the trace with some tensors replaced or added."""
        roles = {"query": self.query, "key": self.key, "value": self.value}
        stored = {role: trace_file.encode(array, "F32", role) for role, array in roles.items()}
        stored |= tensors
        named = {f"layers.3.{role}": tensor for role, tensor in stored.items()}
        trace_file.write_tensors(self.path, named, self.metadata)

    def test_round_trip_and_statistics(self) -> None:
        """What was written is read; the description gives the entropy computed here."""
        self.write()
        layer = trace_file.read_trace(self.path).layers[0]
        np.testing.assert_array_equal(layer.key, self.key)
        scores = 0.5 * np.einsum("d,nd->n", self.query[3], self.key[1])
        probabilities = np.exp(scores) / np.exp(scores).sum()
        heads = describe_trace.head_statistics(layer, 0.5)
        entropy = -(probabilities * np.log(probabilities)).sum()
        self.assertAlmostEqual(heads.effective_keys[3], np.exp(entropy), places=4)
        self.assertAlmostEqual(heads.largest_probability[3], probabilities.max(), places=6)
        code, output, _ = describe(self.path)
        self.assertEqual(code, 0)
        self.assertIn("| 3 | 10 |", output)

    def test_stated_axes(self) -> None:
        """Keys stored token first read the same."""
        self.metadata["axes.key"] = "token,kv_head,feature"
        self.write(key=trace_file.encode(self.key.transpose(1, 0, 2), "F32", "key"))
        np.testing.assert_array_equal(trace_file.read_trace(self.path).layers[0].key, self.key)

    def test_int8_with_scales(self) -> None:
        """I8 keys are multiplied by their scale per head and feature."""
        integers = np.arange(-80, 80, dtype=np.int8).reshape(2, 10, 8)
        scale = np.full((2, 8), 0.25, np.float32)
        stored = trace_file.StoredTensor("I8", integers.shape, integers.tobytes())
        self.write(key=stored, key_scale=trace_file.encode(scale, "F32", "scale"))
        layer = trace_file.read_trace(self.path).layers[0]
        np.testing.assert_array_equal(layer.key, integers * np.float32(0.25))
        self.write(key=stored)
        self.refuse("key_scale")

    def refuse(self, *expected: str) -> None:
        """The file is refused with one line and exit code 2."""
        code, _, errors = describe(self.path)
        self.assertEqual(code, 2)
        self.assertEqual(errors.count("\n"), 1)
        for words in (str(self.path), *expected):
            self.assertIn(words, errors)

    def test_truncated_and_lying_files(self) -> None:
        """Each prefix of a file and each lying header is one line, not a traceback."""
        self.write()
        whole = self.path.read_bytes()
        for length in (0, 4, 8, 20, len(whole) // 2, len(whole) - 1):
            self.path.write_bytes(whole[:length])
            self.refuse()
        self.path.write_bytes(b"\xff" * 8 + whole[8:])
        self.refuse("header length")
        for change in (
            {"dtype": "F64"},
            {"shape": [2**62, 8]},
            {"data_offsets": [0, -4]},
            {"shape": 3},
        ):
            header_bytes = int.from_bytes(whole[:8], "little")
            header = json.loads(whole[8 : 8 + header_bytes])
            header["layers.3.query"] |= change
            text = json.dumps(header).encode()
            data = whole[8 + header_bytes :]
            self.path.write_bytes(len(text).to_bytes(8, "little") + text + data)
            self.refuse("layers.3.query")

    def test_missing_and_mismatched(self) -> None:
        """Another format, an absent file, shapes that do not fit."""
        self.write(value=trace_file.encode(self.value[:, :9], "F32", "value"))
        self.refuse("(2, 9, 8)")
        self.metadata["format_version"] = "2"
        self.write()
        self.refuse("'2'")
        self.path.unlink()
        self.refuse("cannot read")


@unittest.skipIf(MISSING, MISSING)
class ShippedTraces(unittest.TestCase):
    """The traces in traces/ hold together."""

    def test_shipped_traces_reproduce_the_models_output(self) -> None:
        """Attention of the stored tensors is the model's own output up to their rounding."""
        self.assertTrue(SHIPPED, "traces/ has no .safetensors file")
        for path in SHIPPED:
            trace = trace_file.read_trace(path)
            self.assertGreaterEqual(int(trace.metadata["context_length"]), 4096)
            self.assertLess(path.stat().st_size, 16_000_000)
            for layer in trace.layers:
                heads = describe_trace.head_statistics(
                    layer, float(trace.metadata["softmax_scale"])
                )
                self.assertLess(heads.output_error.max(), 5e-3, f"{path.name} layer {layer.index}")


if __name__ == "__main__":
    unittest.main()
