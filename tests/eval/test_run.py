"""Runs of the program on a tiny model with random weights; skipped without torch and transformers."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

import tiny_model
import torch
from santasim import _golden
from santasim.eval import packed
from santasim.eval.methods import label
from santasim.eval.models import fingerprint
from santasim.eval.program import main
from santasim.eval.store import answers, configurations

OBSTACLE = _golden.cuda_obstacle() or ("" if torch.cuda.is_available() else "no CUDA in PyTorch")
try:
    import santa_gpu
    import santa_gpu.huggingface
    NO_FAST = "" if torch.cuda.is_available() else "no CUDA in PyTorch"
except ImportError as error:
    NO_FAST = f"not installed: {error}"

METHODS = ["--method", "sdpa", "--method", "golden:samples=16",
           "--method", "golden:values=strat,samples=16+64,scores=bernoulli-group,bernoulli=4"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny_model.write(folder)
    return folder


def words(model, out, *more):
    return ["run", "--model", str(model), "--task", "qa1", "--length", "400", "--prompts", "3",
            "--max-new-tokens", "4", "--out", str(out), *more]


def stored(folder):
    return {name: answers(folder, name) for name in configurations(folder)}


def test_shards_resumption_and_one_process_give_the_same_answers(model, tmp_path):
    assert main(words(model, tmp_path / "one", *METHODS)) == 0
    for shard in range(2):
        assert main(words(model, tmp_path / "two", *METHODS, "--shard", f"{shard}/2")) == 0
    assert stored(tmp_path / "one") == stored(tmp_path / "two")
    # One method alone computes its own prefill.
    assert main(words(model, tmp_path / "three", *METHODS[2:4])) == 0
    ((name, records),) = stored(tmp_path / "three").items()
    assert records == stored(tmp_path / "one")[name]
    files = {path: path.read_bytes() for path in (tmp_path / "one").glob("*.jsonl")}
    assert len(files) == 3
    for path, content in files.items():
        path.write_bytes(content[:len(content) // 2])
    assert main(words(model, tmp_path / "one", *METHODS)) == 0
    assert files == {path: path.read_bytes() for path in files}


def test_a_killed_run_resumes_to_the_same_numbers(model, tmp_path):
    command = [sys.executable, "-m", "santasim.eval",
               *words(model, tmp_path / "killed", *METHODS[:4])]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not any(
            path.stat().st_size for path in (tmp_path / "killed").glob("*.jsonl")):
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert main(words(model, tmp_path / "killed", *METHODS[:4])) == 0
    assert main(words(model, tmp_path / "whole", *METHODS[:4])) == 0
    assert stored(tmp_path / "killed") == stored(tmp_path / "whole")


def test_reads_are_counted_from_the_samples(model, tmp_path):
    assert main(words(model, tmp_path, *METHODS, "--method", "golden:values=dense",
                      "--method", "golden:values=topk,samples=16")) == 0
    seen = {}
    for name, configuration in configurations(tmp_path).items():
        for record in answers(tmp_path, name).values():
            steps = record["new_tokens"] - (not record["ended"])  # the first comes from the prefill
            contexts = [record["prompt_tokens"] + 1 + step for step in range(steps)]
            access = record["access"]
            method = configuration["method"].get("values")
            seen[method] = True
            if method is None:
                assert access is None
                continue
            rows = 2 * sum(contexts)  # of two layers
            assert access["values_group"][1] == 2 * rows
            assert access["values_head"][1] == 4 * rows
            read, possible = access["values_head"]
            if method == "dense":
                assert read == possible
            elif method == "topk":
                assert read == 2 * 4 * 16 * steps
            elif method == "sys":
                assert 0 < read <= 2 * 4 * 16 * steps
            keys, features = access["keys_group"]
            assert (keys < features) == (method == "strat")
    assert set(seen) == {None, "sys", "strat", "dense", "topk"}


BATCH = ["--method", "sdpa", "--method", "golden:samples=16", "--method",
         "golden:values=strat,samples=16+64,scores=bernoulli-group,bernoulli=4", "--method",
         "golden:values=dense", "--method", "golden:samples=16,key_bits=4", "--method",
         "golden:samples=16,key_bits=4,value_bits=4"]


@pytest.mark.parametrize("sampling", ["greedy", "paper"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_answer_does_not_depend_on_its_batch(model, tmp_path, sampling, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA in PyTorch")
    more = ["--batch", "4", "--sampling", sampling, "--device", device]
    assert main(words(model, tmp_path / "all", *BATCH, *more)) == 0
    whole = stored(tmp_path / "all")
    assert len(whole) == 6
    # Some methods first, others behind a restart: other rows, other neighbours.
    for methods in (BATCH[4:6], BATCH[10:], BATCH):
        assert main(words(model, tmp_path / "parts", *methods, *more)) == 0
    assert stored(tmp_path / "parts") == whole
    if device != "cpu":
        return
    # This tiny model's sums are the same for one row and four, so its texts are.
    assert main(words(model, tmp_path / "alone", *BATCH, "--sampling", sampling)) == 0
    texts = [sorted(json.dumps({**configuration["method"], "answers": [
        records[index]["answer"] for index in sorted(records)]}, sort_keys=True)
        for name, records in folder.items()
        for configuration in [configurations(tmp_path / where)[name]])
        for where, folder in (("all", whole), ("alone", stored(tmp_path / "alone")))]
    assert texts[0] == texts[1]


def test_widths_of_a_method_are_another_unit(model, tmp_path):
    assert main(words(model, tmp_path, *BATCH, "--prompts", "1")) == 0
    units = {label(configuration["method"]): (tmp_path / f"{name}.yaml").read_text()
             for name, configuration in configurations(tmp_path).items() if "unit" in configuration}
    assert "key_bits: 4" in units["sys S=16 K4"] and "value_bits: 8" in units["sys S=16 K4"]
    assert "value_bits: 4" in units["sys S=16 K4 V4"] and "key_bits: 8" in units["dense"]


@pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE or "")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_texts_of_processor_and_gpu_are_the_same(model, tmp_path, device, capsys):
    golden = [word for word in BATCH[2:] if word != "--method"]
    for backend in ("cpu", "cuda"):
        methods = [word for text in golden for word in ("--method", f"{text},backend={backend}")]
        assert main(words(model, tmp_path / backend, *methods, "--device", device, "--batch", "3",
                          "--max-new-tokens", "30")) == 0
    capsys.readouterr()
    assert main(["check", str(tmp_path / "cpu"), str(tmp_path / "cuda")]) == 0
    assert "the same: 15 answers of 5 pairs" in capsys.readouterr().out


@pytest.mark.skipif(bool(NO_FAST), reason=NO_FAST or "")
def test_fast_kernels_answer(tmp_path):
    """Each decode step is sampled, and the draws follow the prompt's seed."""
    tiny_model.write(tmp_path / "model", head_dim=santa_gpu.head_dimensions()[0])
    calls = santa_gpu.huggingface.calls
    texts = []
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        calls.clear()
        assert main(words(tmp_path / "model", tmp_path / folder, "--method", "sdpa", "--method",
                          "cuda:samples=16", "--device", "cuda", "--dtype", "bfloat16",
                          "--max-new-tokens", "40", "--seed", seed)) == 0
        ((_, records),) = [(name, records) for name, records in stored(tmp_path / folder).items()
                           if configurations(tmp_path / folder)[name]["method"]["attention"] != "sdpa"]
        steps = sum(record["new_tokens"] - (not record["ended"]) for record in records.values())
        assert calls == {"sampled": 2 * steps, "sdpa": 2 * len(records)}  # a prefill in each layer
        texts.append([records[index]["answer"] for index in range(3)])
    assert texts[0] == texts[1] != texts[2]


def test_fast_kernels_are_refused_where_they_would_be_left_out(model, tmp_path, capsys):
    try:
        import santa_gpu.huggingface  # noqa: F401
    except ImportError:
        message = "cuda:samples=16: santa_gpu is not installed"
    else:
        message = "cuda:samples=16: --device: got cpu; allowed: cuda"
    capsys.readouterr()
    assert message in refused(capsys, *words(model, tmp_path / "out", "--method", "cuda:samples=16"))
    if torch.cuda.is_available() and not NO_FAST:
        assert "--dtype: got float32; allowed: bfloat16, float16" in refused(
            capsys, *words(model, tmp_path / "out", "--method", "cuda:samples=16", "--device", "cuda"))


def test_the_papers_sampling_repeats_and_follows_the_seed(model, tmp_path):
    texts = []
    for folder, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert main(words(model, tmp_path / folder, "--method", "sdpa", "--sampling", "paper",
                          "--seed", seed)) == 0
        ((_, records),) = stored(tmp_path / folder).items()
        texts.append([records[index]["answer"] for index in range(3)])
    assert texts[0] == texts[1] != texts[2]
    assert len(set(texts[0])) == 3


def test_a_sampled_prefill_counts_decode_steps_alone(model, tmp_path):
    assert main(words(model, tmp_path, "--method", "golden:samples=16", "--prefill", "sampled",
                      "--prompts", "1")) == 0
    ((_, records),) = stored(tmp_path).items()
    record = records[0]
    steps = record["new_tokens"] - (not record["ended"])
    assert record["access"]["keys_group"][1] == 2 * 2 * 16 * steps


def test_questions_from_a_file(model, tmp_path):
    data = tmp_path / "mmlu.csv"
    data.write_text("Which?,p,q,r,s,C\nAnd now?,p,q,r,s,A\n")
    assert main(["run", "--model", str(model), "--task", "mmlu", "--data", str(data), "--method",
                 "sdpa", "--max-new-tokens", "3", "--out", str(tmp_path / "out")]) == 0
    ((_, records),) = stored(tmp_path / "out").items()
    assert sorted(records) == [0, 1]


@pytest.mark.skipif("SANTASIM" not in os.environ, reason="needs the simulator: SANTASIM")
def test_kept_steps_are_simulated_with_the_draws_of_the_model(model, tmp_path, capsys):
    more = [*METHODS, "--method", "golden:values=dense", "--traces", "2"]
    assert main(words(model, tmp_path, *more)) == 0
    assert len(list(tmp_path.glob("*.safetensors"))) == 6
    command = ["energy", str(tmp_path), "--program", os.environ["SANTASIM"]]
    capsys.readouterr()
    assert main(command) == 0
    rows = [line.split("|")[2:6] for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(rows) == 3 and all(int(row[1]) == 2 and float(row[2]) > 0 for row in rows)
    # A step is simulated once; without its cost, once more.
    costs = {path: path.read_bytes() for path in tmp_path.glob("*.cost.json")}
    assert len(costs) == 6
    assert main(["energy", str(tmp_path), "--program", "none"]) == 0
    for path in costs:
        path.unlink()
    assert main([*command, "--jobs", "3"]) == 0
    assert costs == {path: path.read_bytes() for path in tmp_path.glob("*.cost.json")}
    # Other draws than the model's are found out.
    sample = next(path for path in sorted(tmp_path.glob("*.0.safetensors"))
                  if configurations(tmp_path)[path.name.split(".")[0]]["method"]["values"] == "sys")
    os.replace(sample, sample.with_name(sample.name.replace(".0.", ".2.")))
    assert main(command) == 1
    # A step that is gone is made again, and its answer compared; one whose cost is there is not.
    assert main(words(model, tmp_path, *more)) == 0
    assert not sample.exists()
    packed.cost_path(tmp_path, sample.name.split(".")[0], 0).unlink()
    assert main(words(model, tmp_path, *more)) == 0
    assert sample.exists()


def refused(capsys, *arguments):
    assert main(list(arguments)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("more, message", [
    (["--length", "2045"], "--length: got 2045; allowed: up to 2044"),
    (["--length", "20"], "--length: got 20; allowed: at least"),
    (["--method", "golden:samples=16+16+16"],
     "samples: got 3 budgets; allowed: one, or one for each of 2 layers"),
    (["--method", "golden:samples=48"], '--samples: got "48"'),
    (["--method", "golden:values=best"], "--values"),
    (["--method", "sdpa"], "--method: sdpa: is there twice"),
    (["--method", "dense"], '--method: dense: got "dense"'),
    (["--method", "golden:key_bits=5"], "--method: golden:key_bits=5: "),
    (["--method", "golden:key_bits=4+8"], "allowed: key_bits=N"),
    (["--method", "golden:backend=tpu"], 'backend: got "tpu"; allowed: cpu, cuda'),
    (["--batch", "0"], "--batch"),
    (["--batch", "2", "--prefill", "sampled"], "--batch: got 2 with --prefill sampled; allowed: 1"),
    (["--hardware", "none"], "none"),
    (["--set", "unit"], '--set: got "unit"'),
    (["--shard", "2/2"], '"2/2"'),
    (["--seed", "0"], '"0"'),
    (["--data", "x"], "--data: has no effect"),
    (["--gguf-file", "x.gguf"], "x.gguf: not a GGUF file"),
    (["--sampling", "best"], "--sampling"),
    (["--unknown"], "--unknown")])
def test_wrong_options_are_refused(model, tmp_path, capsys, more, message):
    capsys.readouterr()
    assert message in refused(capsys, *words(model, tmp_path / "out", "--method", "sdpa", *more))
    assert not (tmp_path / "out").exists()


def test_the_fingerprint_is_of_the_files_that_are_read(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    alone = fingerprint(tmp_path, None)
    (tmp_path / "same.gguf").write_bytes(b"GGUF")
    assert fingerprint(tmp_path, None) == alone
    named = fingerprint(tmp_path, "same.gguf")
    assert named != alone
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    assert fingerprint(tmp_path, "same.gguf") == named
    (tmp_path / "same.gguf").write_bytes(b"GGUF2")
    assert fingerprint(tmp_path, "same.gguf") != named
    (tmp_path / "config.json").write_text("{ }")
    assert fingerprint(tmp_path, None) != alone


def test_wrong_models_and_data_are_refused(model, tmp_path, capsys):
    start = ["run", "--task", "gsm8k", "--method", "sdpa", "--out", str(tmp_path / "out")]
    data = tmp_path / "data.jsonl"
    assert "No such file" in refused(capsys, *start, "--model", str(model), "--data", str(data))
    data.write_text(json.dumps({"question": "x" * 3000, "answer": "#### 2"}) + "\n")
    assert "prompt 0 has" in refused(capsys, *start, "--model", str(model), "--data", str(data))
    data.write_text(json.dumps({"question": "1 + 1?", "answer": "#### 2"}) + "\n")
    assert "--prompts: got 2; allowed: up to 1" in refused(
        capsys, *start, "--model", str(model), "--data", str(data), "--prompts", "2")
    folder = tmp_path / "broken"
    for content, message in ((None, "not a folder"), ({}, "config.json"),
                             ({"config.json": "{"}, "config.json"),
                             ({"config.json": "{}"}, "model_type"),
                             ({"config.json": '{"model_type": "none"}'}, str(folder))):
        if content is not None:
            folder.mkdir(exist_ok=True)
            for name, text in content.items():
                (folder / name).write_text(text)
        assert message in refused(capsys, *start, "--model", str(folder), "--data", str(data))
    for path in model.iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).write_bytes(path.read_bytes())
    assert str(folder) in refused(capsys, *start, "--model", str(folder), "--data", str(data))
