"""The Python module against the program `santasim`: the same bits, the same refusals.

  SANTASIM=build/bin/santasim PYTHONPATH=build/python python3 -m unittest discover -s tests/python
"""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import numpy as np
import santasim

PROGRAM = os.environ.get("SANTASIM", "santasim")
NUMPY_OF = {"I8": np.int8, "I16": np.int16, "U16": np.uint16, "I32": np.int32, "U32": np.uint32,
            "U64": np.uint64}
VALUES = ("santa", "strat", "sys", "topk", "dense")
SCORES = ("exact", "bernoulli", "bernoulli-iid", "bernoulli-group")


def read_vector(path):
    """Tensors of a recorded vector (docs/vectors.md)."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            body = data[8 + length + begin:8 + length + end]
            tensors[name] = np.frombuffer(body, NUMPY_OF[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def tensors(query_heads=6, kv_heads=2, tokens=300, features=48, seed=1):
    """Queries, keys and values of N(0, 1)."""
    random = np.random.default_rng(seed)
    return tuple(random.standard_normal(shape, np.float32) for shape in
                 ((query_heads, features), (kv_heads, tokens, features), (kv_heads, tokens, features)))


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def inputs(self, query, key, value):
        """Options of the program for these arrays."""
        options = []
        for name, array in (("query", query), ("key", key), ("value", value)):
            np.save(self.folder / f"{name}.npy", array)
            options += [f"--{name}", str(self.folder / f"{name}.npy")]
        return options

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)

    def captured(self, name, *arguments):
        """The vectors of `santasim vectors capture`, one a KV head."""
        place = self.folder / name
        outcome = self.run_program("vectors", "capture", str(place), *arguments)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return [read_vector(path) for path in sorted(place.iterdir())]


class SameBits(Files):
    def compare(self, result, vectors):
        """Outputs, rows, counts and features of every KV head."""
        raw = np.concatenate([vector["result.output"] for vector in vectors])
        np.testing.assert_array_equal(result.raw_output, raw)
        self.assertEqual(len(result.keys), len(vectors))
        for head, vector in enumerate(vectors):
            np.testing.assert_array_equal(result.keys[head], vector["result.row_keys"])
            np.testing.assert_array_equal(result.counts[head], vector["result.row_counts"].T)
            needed = np.flatnonzero((vector["result.coefficients"] != 0).any(axis=0))
            np.testing.assert_array_equal(result.features[head], needed)

    def test_every_pair_of_schemes(self):
        query, key, value = tensors()
        inputs = self.inputs(query, key, value)
        unit = santasim.Unit("edge-lpddr5")
        compared = 0
        for values in VALUES:
            for scores in SCORES if values in ("santa", "strat", "sys") else ("exact",):
                sampled = values in ("santa", "strat", "sys")
                options = ["--values", values, "--scores", scores, "--scale", "0.2"]
                if sampled:
                    options += ["--samples", "64", "--seed", "7", "--step", "3"]
                if values == "topk":
                    options += ["--top-k", "37"]
                if scores != "exact":
                    options += ["--bernoulli", "4"]
                vectors = self.captured(f"{values}-{scores}", *inputs, *options)
                result = unit.decode(query, key, value, values=values, scores=scores, scale=0.2,
                                     samples=37 if values == "topk" else 64, bernoulli=4, seed=7,
                                     step=3)
                self.compare(result, vectors)
                self.assertEqual(sum(map(len, result.keys)) == 0, values == "dense")
                compared += 1
        self.assertEqual(compared, 3 * 4 + 2)

    def test_other_units(self):
        query, key, value = tensors(tokens=130, features=20)
        inputs = self.inputs(query, key, value)
        description = self.folder / "mine.yaml"
        description.write_text(santasim.Unit("tiny-test").canonical_yaml, encoding="utf-8")
        for name, overrides in (("tiny-test", {}), (str(description), {}),
                                ("edge-lpddr5", {"unit.tile_keys": 32, "unit.key_lanes": 32})):
            changes = [word for item in overrides.items() for word in ("--set", "%s=%s" % item)]
            vectors = self.captured(f"{len(overrides)}-{pathlib.Path(name).name}", *inputs,
                                    "--config", name, *changes)
            unit = santasim.Unit(name, overrides=overrides)
            self.compare(unit.decode(query, key, value), vectors)

    def test_the_shipped_traces_shapes(self):
        query, key, value = tensors(query_heads=12, kv_heads=2, tokens=1000, features=128)
        vectors = self.captured("whole", *self.inputs(query, key, value))
        self.compare(santasim.Unit().decode(query, key, value), vectors)

    def test_int8_arrays_are_their_integers(self):
        random = np.random.default_rng(2)
        key, value = random.integers(-127, 128, (2, 2, 90, 16), np.int8)
        query = random.standard_normal((4, 16), np.float32) / 64
        vectors = self.captured("int8", *self.inputs(query, key, value))
        self.compare(santasim.Unit().decode(query, key, value), vectors)

    def test_four_bits(self):
        query, key, value = tensors()
        changes = {"system.key_bits": 4, "system.value_bits": 4}
        unit = santasim.Unit(overrides=changes)
        result = unit.decode(query, key, value)
        outcome = self.run_program("run", *self.inputs(query, key, value), "--json", "-",
                                   "--no-baselines", "--set", "system.key_bits=4", "--set",
                                   "system.value_bits=4")
        report = json.loads(outcome.stdout)
        self.assertEqual(unit.hash, report["provenance"]["configuration_hash"])
        exact = attention(query, key, value)[0]
        error = np.linalg.norm(result.output - exact) / np.linalg.norm(exact)
        self.assertAlmostEqual(error, report["accuracy"]["relative_l2"], places=12)


def attention(query, key, value):
    """Output and log-sum-exp in float64."""
    group = len(query) // len(key)
    query, key, value = (a.astype(np.float64) for a in (query, key, value))
    key, value = np.repeat(key, group, axis=0), np.repeat(value, group, axis=0)
    scores = np.einsum("hd,hnd->hn", query, key) / query.shape[1] ** 0.5
    weights = np.exp(scores)
    total = weights.sum(axis=1, keepdims=True)
    return np.einsum("hn,hnd->hd", weights / total, value), np.log(total[:, 0])


class Interface(unittest.TestCase):
    def setUp(self):
        self.unit = santasim.Unit()
        self.query, self.key, self.value = tensors()

    def decode(self, **more):
        return self.unit.decode(self.query, self.key, self.value, **more)

    def equal(self, a, b):
        return np.array_equal(a.raw_output, b.raw_output) and np.array_equal(a.log_sum_exp,
                                                                             b.log_sum_exp)

    def test_shapes_and_types(self):
        result = self.decode(samples=128)
        self.assertEqual((result.output.shape, result.output.dtype), ((6, 48), np.float32))
        self.assertEqual((result.raw_output.shape, result.raw_output.dtype), ((6, 48), np.int16))
        self.assertEqual((result.log_sum_exp.shape, result.log_sum_exp.dtype), ((6,), np.float64))
        for keys, counts in zip(result.keys, result.counts):
            self.assertEqual((keys.dtype, counts.dtype), (np.uint32, np.uint16))
            self.assertEqual(counts.shape, (3, len(keys)))
            self.assertTrue((np.diff(keys.astype(int)) > 0).all())
            np.testing.assert_array_equal(counts.sum(axis=1), [128] * 3)
        self.assertEqual(result.operations.value_adds, 6 * 128 * 48)
        self.assertEqual(result.operations.value_multiplies, 0)

    def test_close_to_attention_in_float64(self):
        result = self.decode(values="dense")
        exact, log_sum_exp = attention(self.query, self.key, self.value)
        np.testing.assert_allclose(result.log_sum_exp, log_sum_exp, atol=0.02)
        error = np.linalg.norm(result.output - exact) / np.linalg.norm(exact)
        self.assertLess(error, 0.05)

    def test_strides_do_not_matter(self):
        expected = self.decode()
        key = np.asfortranarray(self.key)
        value = np.ascontiguousarray(self.value.transpose(1, 0, 2)).transpose(1, 0, 2)
        query = np.repeat(self.query, 2, axis=0)[::2]
        backwards = self.key[:, ::-1][:, ::-1]
        self.assertFalse(key.flags.c_contiguous or value.flags.c_contiguous)
        self.assertTrue(self.equal(self.unit.decode(query, key, value), expected))
        self.assertTrue(self.equal(self.unit.decode(query, backwards, value), expected))

    def test_short_types_are_their_values(self):
        for dtype in [np.float16] + bfloat16():
            query, key, value = (a.astype(dtype) for a in (self.query, self.key, self.value))
            wide = self.unit.decode(*(a.astype(np.float32) for a in (query, key, value)))
            self.assertTrue(self.equal(self.unit.decode(query, key, value), wide))

    def test_a_cache_serves_many_steps(self):
        cache = self.unit.cache(self.key, self.value)
        self.assertEqual((cache.kv_heads, cache.tokens, cache.head_dimension), (2, 300, 48))
        self.assertTrue(self.equal(cache.decode(self.query, step=5), self.decode(step=5)))

    def test_seed_layer_step_and_request_are_other_draws(self):
        expected = self.decode()
        self.assertTrue(self.equal(expected, self.decode(seed=1, request=0, layer=0, step=0)))
        for name in ("seed", "request", "layer", "step"):
            other = self.decode(**{name: 2})
            self.assertFalse(all(np.array_equal(a, b) for a, b in zip(expected.counts,
                                                                      other.counts)), name)

    def test_scales_of_integers(self):
        random = np.random.default_rng(2)
        key, value = random.integers(-127, 128, (2, 2, 90, 16), np.int8)
        query = random.standard_normal((4, 16), np.float32)
        scale = np.full((2, 16), 2.0 ** -6, np.float32)
        scaled = self.unit.cache(key, value, key_scale=scale, value_scale=scale).decode(query)
        plain = self.unit.decode(query * 2.0 ** -6, key, value)
        np.testing.assert_array_equal(scaled.raw_output, plain.raw_output)
        np.testing.assert_array_equal(scaled.output, plain.output * 2.0 ** -6)

    def test_no_keys(self):
        empty = np.zeros((2, 0, 48), np.float32)
        result = self.unit.decode(self.query, empty, empty)
        self.assertFalse(result.output.any())
        self.assertTrue((result.log_sum_exp == -np.inf).all())


def bfloat16():
    """The type of ml_dtypes, where that is installed."""
    try:
        import ml_dtypes
    except ImportError:
        print("test_unit: ml_dtypes is not installed: bfloat16 is not tested")
        return []
    return [ml_dtypes.bfloat16]


class Refusals(Files):
    def refused(self, message, function, *arguments, **more):
        with self.assertRaises(ValueError) as caught:
            function(*arguments, **more)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        self.assertIn(message, text)
        return text

    def test_the_programs_own_messages(self):
        query, key, value = tensors()
        inputs = self.inputs(query, key, value)
        decode = santasim.Unit().decode
        for options, arguments in (
                (["--samples", "48"], {"samples": 48}),
                (["--samples", "0"], {"samples": 0}),
                (["--samples", "8192"], {"samples": 8192}),
                (["--values", "topk", "--top-k", "5000"], {"values": "topk", "samples": 5000}),
                (["--scores", "bernoulli", "--bernoulli", "3"],
                 {"scores": "bernoulli", "bernoulli": 3}),
                (["--values", "systematic"], {"values": "systematic"}),
                (["--scores", "bernouli"], {"scores": "bernouli"}),
                (["--values", "dense", "--scores", "bernoulli"],
                 {"values": "dense", "scores": "bernoulli"}),
                (["--seed", "0"], {"seed": 0}),
                (["--scale", "0"], {"scale": 0})):
            outcome = self.run_program("run", *inputs, *options)
            self.assertEqual(outcome.returncode, 2)
            self.refused(outcome.stderr.removeprefix("santasim: ").strip(), decode, query, key,
                         value, **arguments)

    def test_the_programs_messages_of_hardware(self):
        for name, overrides in (("edge", {}), ("no/such.yaml", {}),
                                ("edge-lpddr5", {"unit.tile_keys": 48}),
                                ("edge-lpddr5", {"unit.tiles": 64}),
                                ("edge-lpddr5", {"nothing": ""})):
            changes = [word for item in overrides.items() for word in ("--set", "%s=%s" % item)]
            outcome = self.run_program("run", "--config", name, *changes)
            self.assertEqual(outcome.returncode, 2)
            self.refused(outcome.stderr.removeprefix("santasim: ").strip(), santasim.Unit, name,
                         overrides=overrides)

    def test_arrays(self):
        query, key, value = tensors()
        decode = santasim.Unit().decode
        self.refused('query: dtype: got float64; allowed: float32', decode,
                     query.astype(np.float64), key, value)
        self.refused("key: dtype: got int16", decode, query, key.astype(np.int16), value)
        self.refused("key: dtype: got object", decode, query, None, value)
        self.refused("value: dtype: got float32; allowed: int8", decode, query,
                     key.astype(np.int8), value)
        self.refused("query: shape: got [1, 6, 48]; allowed: [query_heads, head_dimension]", decode,
                     query[None], key, value)
        self.refused("value: shape: got [2, 299, 48]; allowed: [2, 300, 48], as the keys", decode,
                     query, key, value[:, 1:])
        self.refused("query: shape: got [6, 47]; allowed: [6, 48], as the keys", decode,
                     query[:, 1:], key, value)
        self.refused("query: query heads: got 5; allowed: a multiple of 2", decode, query[1:], key,
                     value)
        self.refused("query: query heads: got 0", decode, query[:0], key, value)
        self.refused("1 to 16 for each", decode, np.zeros((34, 48), np.float32), key, value)
        self.refused("key: shape: got [0, 300, 48]; allowed: 1 KV head or more", decode, query,
                     key[:0], value[:0])
        self.refused("key: shape: got [2, 300, 0]", decode, query[:, :0], key[..., :0],
                     value[..., :0])
        broken = key.copy()
        broken[1, 7, 5] = np.nan
        self.refused("key: element [1, 7, 5]: got nan; allowed: a finite number", decode, query,
                     broken, value)
        self.refused("key_scale: has no effect with float32 keys", santasim.Unit().cache, key,
                     value, key_scale=np.ones((2, 48), np.float32))
        small = np.ones((2, 9, 48), np.int8)
        self.refused("value_scale: feature 0: got 3; allowed: a power of two",
                     santasim.Unit().cache, small, small,
                     value_scale=np.full((2, 48), 3, np.float32))
        self.refused("key_scale: shape: got [1, 48]; allowed: [2, 48]", santasim.Unit().cache,
                     small, small, key_scale=np.ones((1, 48), np.float32))
        self.refused("system.key_bits, system.value_bits: got 4 and 8",
                     santasim.Unit(overrides={"system.key_bits": 4}).decode,
                     query, small, small)


class Caches(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(4)
        self.query = random.standard_normal((6, 48), np.float32)
        self.key, self.value = random.standard_normal((2, 2, 200, 48), np.float32)

    def test_a_cache_that_grows_is_the_one_of_all_tokens(self):
        unit = santasim.Unit(overrides={"system.value_bits": 4})
        cache = unit.cache(self.key[:, :150], self.value[:, :150])
        other = cache.copy()
        for first, last in ((150, 151), (151, 180), (180, 180), (180, 200)):
            cache.append(self.key[:, first:last], self.value[:, first:last])
        self.assertEqual((cache.tokens, other.tokens), (200, 150))
        np.testing.assert_array_equal(cache.key, self.key)
        np.testing.assert_array_equal(cache.value, self.value)
        for grown, tokens in ((cache, 200), (other, 150)):
            whole = unit.cache(self.key[:, :tokens], self.value[:, :tokens])
            for values in santasim.VALUE_SCHEMES:
                mine, all_ = (one.decode(self.query, values=values, samples=16)
                              for one in (grown, whole))
                np.testing.assert_array_equal(mine.output, all_.output)
                np.testing.assert_array_equal(mine.raw_output, all_.raw_output)

    def test_reads_are_those_of_the_lists(self):
        result = santasim.Unit().decode(self.query, self.key, self.value, samples=16,
                                        scores="bernoulli-group")
        self.assertEqual(result.reads, (
            sum(map(len, result.features)), sum(map(len, result.keys)),
            sum(int(np.count_nonzero(counts)) for counts in result.counts)))

    def test_what_does_not_fit_is_refused(self):
        unit = santasim.Unit()
        cache = unit.cache(self.key, self.value)
        for message, key, value in (
                ("key: shape: got [1, 1, 48]; allowed: [2, 1, 48], as the cache",
                 self.key[:1, :1], self.value[:1, :1]),
                ("value: shape: got [2, 2, 48]; allowed: [2, 1, 48], as the keys",
                 self.key[:, :1], self.value[:, :2]),
                ("key: element [0, 0, 0]: got nan", self.key[:, :1] * np.float32("nan"),
                 self.value[:, :1])):
            with self.assertRaises(ValueError) as caught:
                cache.append(key, value)
            self.assertIn(message, str(caught.exception))
        self.assertEqual(cache.tokens, 200)
        integers = np.ones((2, 9, 48), np.int8)
        with self.assertRaisesRegex(ValueError, "cache: got int8 keys and values"):
            unit.cache(integers, integers).append(self.key[:, :1], self.value[:, :1])


if __name__ == "__main__":
    unittest.main()
