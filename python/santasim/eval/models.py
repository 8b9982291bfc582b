"""A causal model of transformers from a local folder, and prompts as its tokens."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

from .errors import InputError
from .tasks import Prompt

_WHOLE_BYTES = 1 << 20
"""Of a larger file the fingerprint takes the size, the first and the last bytes, this many."""


@dataclasses.dataclass(frozen=True)
class Model:
    """What answers prompts."""

    network: Any  # PreTrainedModel
    tokenizer: Any
    fingerprint: str
    limit: int  # tokens that the model holds
    end: frozenset[int]  # tokens that end an answer

    def tokens(self, prompt: Prompt) -> list[int]:
        """With the model's chat template where it has one, else the texts one after another."""
        if self.tokenizer.chat_template is None:
            texts = [text for text in (prompt.system, prompt.user, prompt.answer_prefix) if text]
            return list(self.tokenizer("\n\n".join(texts))["input_ids"])
        turns = [{"role": "user", "content": prompt.user}]
        if prompt.system is not None:
            turns.insert(0, {"role": "system", "content": prompt.system})
        text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer(text + prompt.answer_prefix, add_special_tokens=False)["input_ids"])

    def text(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))


def fingerprint(folder: Path, gguf_file: str | None) -> str:
    """Of names and contents of a folder's files, of GGUF files the named one alone; large files by
    their ends and size."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        if path.suffix == ".gguf" and path.name != gguf_file:
            continue  # another form of a model, which nothing reads
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(_WHOLE_BYTES))
            if size > _WHOLE_BYTES:
                file.seek(max(_WHOLE_BYTES, size - _WHOLE_BYTES))
                digest.update(file.read())
    return digest.hexdigest()


def _check_folder(folder: Path, gguf_file: str | None) -> None:
    if not folder.is_dir():
        raise InputError(f"--model: {folder}: not a folder; allowed: a local folder with config.json, "
                         "weights and tokenizer, or with a GGUF file that --gguf-file names")
    if gguf_file is not None:
        path = folder / gguf_file
        if not path.is_file() or path.open("rb").read(4) != b"GGUF":
            raise InputError(f"--gguf-file: {path}: not a GGUF file")
        return
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError) as error:
        raise InputError(f"--model: {folder / 'config.json'}: {error.__class__.__name__}; allowed: "
                         "the JSON file of a causal model of transformers") from error
    if not isinstance(config, dict) or "model_type" not in config:
        raise InputError(f"--model: {folder / 'config.json'}: model_type: missing; allowed: a model "
                         "type of transformers")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or error.__class__.__name__


def load(folder: Path, *, gguf_file: str | None, dtype: str, device: str) -> Model:
    """Nothing is fetched. Raises InputError for a folder that holds no complete causal model."""
    _check_folder(folder, gguf_file)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True}
    if gguf_file is not None:
        options["gguf_file"] = gguf_file
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
    except Exception as error:  # transformers raises what its readers raise
        raise InputError(f"--model: {folder}: tokenizer: {_one_line(error)}") from error
    try:
        network, loading = AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=getattr(torch, dtype), output_loading_info=True, **options)
        network = network.to(device).eval()
    except Exception as error:
        raise InputError(f"--model: {folder}: {_one_line(error)}") from error
    if missing := sorted(loading["missing_keys"]):
        raise InputError(f"--model: {folder}: weights: {len(missing)} are missing, first "
                         f"{missing[0]}; allowed: all weights of the model")
    limit = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    if not isinstance(limit, int):
        raise InputError(f"--model: {folder}: max_position_embeddings: missing; allowed: a model "
                         "that states how many tokens it holds")
    ends = [network.generation_config.eos_token_id, tokenizer.eos_token_id]
    end = frozenset(token for entry in ends if entry is not None
                    for token in (entry if isinstance(entry, list) else [entry]))
    return Model(network, tokenizer, fingerprint(folder, gguf_file), limit, end)
