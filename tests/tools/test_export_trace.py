"""Tests of tools/export_trace.py on tiny random models; no network, no downloads.

Run: python3 -m unittest discover -s tests/tools -v
The cases that need torch and transformers are skipped, with that reason, where they are missing.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).parents[2] / "tools")]
os.environ["HF_HUB_OFFLINE"] = "1"

import trace_options  # noqa: E402, after the path is set

try:
    import describe_trace
    import export_trace
    import numpy as np
    import tiny_models
    import torch
    import trace_file
    import transformers
    from safetensors import safe_open

    MISSING = ""
except ImportError as error:
    MISSING = f"needs tools/requirements.txt installed ({error.name} is missing)"

CONTEXT = 100
ALL_FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma3")


def run(arguments: list[str]) -> tuple[int, str]:
    """The exporter's exit code and what it wrote to standard error."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = export_trace.main(arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
    return code, errors.getvalue()


class ExporterCase(unittest.TestCase):
    """A temporary folder with a text and, on demand, models."""

    @classmethod
    def setUpClass(cls) -> None:
        """Writes the text once for the class."""
        if MISSING:
            raise unittest.SkipTest(MISSING)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.text = cls.folder / "text.txt"
        cls.text.write_text(tiny_models.text(150))

    def tokens(self, family: str) -> list[int]:
        """The tokens a family's model sees."""
        return tiny_models.first_tokens(self.model(family), self.text.read_text(), CONTEXT)

    def model(self, family: str, **changes: object) -> Path:
        """The folder of a family's model; made on first use."""
        path = self.folder / family
        return path if path.exists() else tiny_models.save_model(self.folder, family, **changes)

    def arguments(self, model: Path, output: Path, *extra: str) -> list[str]:
        """A complete command line; options in `extra` override."""
        return [
            *("--model", str(model), "--text", str(self.text), "--context", str(CONTEXT)),
            *("--layers", "all", "--dtype", "f32", "--chunk", "33"),
            *("--model-licence", "none", "--text-licence", "none", "--date", "2026-01-02"),
            *("--output", str(output), *extra),
        ]

    def export(self, family: str, *extra: str) -> trace_file.Trace:
        """Exports a family's model and reads the trace back."""
        output = self.folder / f"{self.id()}-{family}.safetensors"
        code, errors = run(self.arguments(self.model(family), output, *extra))
        self.assertEqual((code, errors), (0, ""))
        return trace_file.read_trace(output)


class CapturedTensors(ExporterCase):
    """What the file holds is what the model's attention used."""

    def test_attention_of_the_tensors_is_the_models_own_output(self) -> None:
        """softmax(scale q k) v equals the output projection's input in an independent pass."""
        for family in ALL_FAMILIES:
            with self.subTest(family=family):
                trace = self.export(family)
                _, outputs = tiny_models.reference_step(self.model(family), self.tokens(family))
                scale = float(trace.metadata["softmax_scale"])
                self.assertEqual(len(trace.layers), tiny_models.LAYERS)
                for layer in trace.layers:
                    expected = outputs[layer.index].numpy()
                    _, computed = describe_trace.attention(layer, scale)
                    np.testing.assert_allclose(computed, expected, rtol=2e-3, atol=2e-4)
                    np.testing.assert_allclose(layer.output, expected, rtol=2e-3, atol=2e-4)
                    np.testing.assert_allclose(layer.output, computed, rtol=1e-4, atol=1e-5)

    def test_keys_are_those_of_the_library_cache(self) -> None:
        """Keys carry the rotary embedding, as in the cache; none is lost or out of order."""
        for family in ("llama", "qwen2", "qwen3"):
            with self.subTest(family=family):
                trace = self.export(family)
                model, _ = tiny_models.reference_step(self.model(family), self.tokens(family))
                for layer in trace.layers:
                    keys = tiny_models.reference_keys(model, self.tokens(family), layer.index)
                    np.testing.assert_allclose(layer.key, keys.numpy(), rtol=1e-3, atol=1e-3)

    def test_wrong_grouping_would_be_noticed(self) -> None:
        """The query heads' order matters: a shifted group does not give the output."""
        layer = self.export("llama").layers[1]
        scale = tiny_models.HEAD_DIMENSION**-0.5
        swapped = trace_file.Layer(1, layer.query, layer.key[::-1], layer.value[::-1], None)
        _, wrong = describe_trace.attention(swapped, scale)
        self.assertGreater(np.abs(wrong - layer.output).max(), 0.05)

    def test_kv_heads_keep_their_query_heads(self) -> None:
        """--kv-heads 1 keeps KV head 1 and query heads 3, 4, 5 of six."""
        every = self.export("llama")
        output = self.folder / "one.safetensors"
        code, _ = run(self.arguments(self.model("llama"), output, "--kv-heads", "1"))
        self.assertEqual(code, 0)
        one = trace_file.read_trace(output)
        self.assertEqual(one.metadata["kv_head_indices"], "1")
        self.assertEqual(one.metadata["query_heads"], "3")
        for kept, full in zip(one.layers, every.layers, strict=True):
            np.testing.assert_array_equal(kept.key, full.key[1:])
            np.testing.assert_array_equal(kept.query, full.query[3:])
            np.testing.assert_array_equal(kept.output, full.output[3:])

    def test_sliding_windows_keep_only_visible_keys(self) -> None:
        """A sliding layer holds the window's keys and says so; a full layer holds them all."""
        trace = self.export("gemma3")
        self.assertEqual(float(trace.metadata["softmax_scale"]), 24**-0.5)
        for layer in trace.layers:
            sliding = layer.index != 1
            keys = tiny_models.WINDOW if sliding else CONTEXT
            name = f"layers.{layer.index}"
            self.assertEqual(layer.key.shape[1], keys)
            self.assertEqual(
                trace.metadata.get(f"{name}.sliding_window"),
                str(tiny_models.WINDOW) if sliding else None,
            )
            self.assertEqual(
                trace.metadata.get(f"{name}.first_position"),
                str(CONTEXT - keys) if sliding else None,
            )

    def test_chunks_do_not_change_the_result(self) -> None:
        """One chunk or many, sliding windows included."""
        many = self.export("gemma3")
        output = self.folder / "once.safetensors"
        arguments = self.arguments(self.model("gemma3"), output, "--chunk", "1000")
        self.assertEqual(run(arguments)[0], 0)
        for a, b in zip(many.layers, trace_file.read_trace(output).layers, strict=True):
            np.testing.assert_allclose(a.key, b.key, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(a.output, b.output, rtol=1e-3, atol=1e-4)

    def test_soft_cap_is_recorded_and_the_output_left_out(self) -> None:
        """Gemma 2 exports only on request."""
        trace = self.export("gemma2", "--allow-softcap")
        self.assertEqual(trace.metadata["layers.0.logit_softcap"], "50.0")
        self.assertIsNone(trace.layers[0].output)


class FileFormat(ExporterCase):
    """The bytes on disk."""

    def test_metadata_and_dtypes(self) -> None:
        """The safetensors library reads the file; names, dtypes and metadata are as documented."""
        output = self.folder / "format.safetensors"
        arguments = self.arguments(self.model("llama"), output, "--dtype", "bf16", "--perplexity")
        self.assertEqual(run([*arguments, "--layers", "2,0"])[0], 0)
        with safe_open(output, "pt") as file:
            metadata = file.metadata()
            self.assertEqual(file.get_tensor("layers.0.key").dtype, torch.bfloat16)
            self.assertEqual(file.get_tensor("layers.0.query").dtype, torch.float32)
            self.assertEqual(len(file.keys()), 8)
        expected = {
            **{"format": "santasim-trace", "format_version": "1", "kind": "captured"},
            **{"layers": "0,2", "query_heads": "6", "kv_heads": "2", "head_dimension": "16"},
            **{"context_length": "100", "decode_position": "99", "softmax_scale": "0.25"},
            **{"rotary": "applied", "created": "2026-01-02", "axes.query": "query_head,feature"},
            **{"axes.key": "kv_head,token,feature", "axes.value": "kv_head,token,feature"},
        }
        self.assertEqual(expected, {name: metadata[name] for name in expected})
        self.assertIn("text_perplexity", metadata)

    def test_rounding_is_to_nearest_even(self) -> None:
        """F16 and BF16 bits equal torch's conversion of the same values."""
        values = torch.randn(4, 1000, generator=torch.Generator().manual_seed(3))
        for name, dtype in (("F16", torch.float16), ("BF16", torch.bfloat16)):
            stored = trace_file.encode(values.numpy(), name, "x")
            self.assertEqual(stored.data, values.to(dtype).view(torch.int16).numpy().tobytes())
            np.testing.assert_array_equal(
                trace_file.decode(stored), values.to(dtype).float().numpy()
            )

    def test_values_that_do_not_fit_are_refused(self) -> None:
        """Nothing becomes infinite silently."""
        for values, dtype in (([7e4], "F16"), ([3.4e38], "BF16"), ([float("nan")], "F32")):
            with self.assertRaises(trace_file.TraceError):
                trace_file.encode(np.array(values, np.float32), dtype, "layers.0.key")

    def test_the_same_command_gives_the_same_bytes(self) -> None:
        """Two runs, one file."""
        outputs = [self.folder / f"same{n}.safetensors" for n in (1, 2)]
        for output in outputs:
            self.assertEqual(run(self.arguments(self.model("qwen2"), output))[0], 0)
        self.assertEqual(outputs[0].read_bytes(), outputs[1].read_bytes())

    def test_a_full_disk_leaves_nothing_and_keeps_the_old_file(self) -> None:
        """A write that ends early (a file size limit here) removes what it wrote."""
        import resource

        folder = self.folder / "full"
        folder.mkdir(exist_ok=True)
        output = folder / "trace.safetensors"
        output.write_bytes(b"old")
        arguments = self.arguments(self.model("llama"), output)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        try:
            code, errors = run(arguments)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.assertEqual(code, 2)
        self.assertIn(str(output), errors)
        self.assertEqual(os.listdir(folder), ["trace.safetensors"])
        self.assertEqual(output.read_bytes(), b"old")


class BadInput(ExporterCase):
    """Each refusal is one line that names the option, and exit code 2; nothing is written."""

    def refuse(self, arguments: list[str], *expected: str) -> None:
        """Runs and checks the code, the single line, its words and the absent output."""
        code, errors = run(arguments)
        self.assertEqual(code, 2, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        for words in expected:
            self.assertIn(words, errors)
        self.assertFalse((self.folder / "bad.safetensors").exists())

    def bad(self, *extra: str, family: str = "llama") -> list[str]:
        """A command line that `extra` spoils."""
        return self.arguments(self.model(family), self.folder / "bad.safetensors", *extra)

    def test_paths(self) -> None:
        """Missing files and folders."""
        self.refuse(self.bad("--model", "/no/such"), "--model", "/no/such")
        self.refuse(self.bad("--model", str(self.folder)), "--model", "config.json")
        self.refuse(self.bad("--text", "/no/such.txt"), "--text", "/no/such.txt")
        self.refuse(self.bad("--gguf-file", "no.gguf"), "--gguf-file", "no.gguf")
        self.refuse(self.bad("--output", "/no/such/x"), "--output", "/no/such")

    def test_ranges(self) -> None:
        """Values out of range state what is allowed."""
        self.refuse(self.bad("--context", "151"), "--context: 151", "2..150")
        self.refuse(self.bad("--context", "140"), "--context: 140", "2..128")
        self.refuse(self.bad("--context", "1"), "--context: 1", "2 or more")
        self.refuse(self.bad("--context", "0"), "--context", "from 1")
        self.refuse(self.bad("--layers", "0,3"), "--layers: 3", "0..2")
        self.refuse(self.bad("--layers", "1,1"), "--layers", "distinct")
        self.refuse(self.bad("--layers", "-1"), "--layers")
        self.refuse(self.bad("--kv-heads", "2"), "--kv-heads: 2", "0..1")
        self.refuse(self.bad("--dtype", "f8"), "--dtype", "bf16")
        self.refuse(self.bad("--date", "today"), "--date", "YYYY-MM-DD")
        self.refuse(self.bad("--contxt", "5"), "--contxt")

    def test_text_that_is_not_utf8(self) -> None:
        """Names the file and the byte."""
        path = self.folder / "latin.txt"
        path.write_bytes(b"caf\xe9 au lait")
        self.refuse(self.bad("--text", str(path)), "--text", "UTF-8", "byte 3")

    def test_soft_cap(self) -> None:
        """Gemma 2 without --allow-softcap."""
        self.refuse(self.bad(family="gemma2"), "soft-cap", "--allow-softcap")

    def test_missing_weights(self) -> None:
        """A weight file without one of the tensors is not filled with random numbers."""
        from safetensors.torch import load_file, save_file

        path = tiny_models.save_model(self.folder / "broken", "qwen3")
        weights = load_file(path / "model.safetensors")
        del weights["model.layers.1.self_attn.k_proj.weight"]
        save_file(weights, path / "model.safetensors", {"format": "pt"})
        self.refuse(self.bad("--model", str(path)), "lacks 1 weights", "layers.1.self_attn.k_proj")

    def test_broken_weights(self) -> None:
        """A truncated weight file is one line, not a traceback."""
        path = tiny_models.save_model(self.folder / "cut", "llama")
        weights = path / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
        self.refuse(self.bad("--model", str(path)), "--model", str(path))


class Help(unittest.TestCase):
    """Needs no packages."""

    def test_help_has_examples_and_exit_codes(self) -> None:
        """--help is what a user reads first."""
        text = trace_options.build_parser().format_help()
        for words in ("examples:", "exit codes:", "--layers", "--model-licence", "docs/traces.md"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
