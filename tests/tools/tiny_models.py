"""Tiny randomly initialised models of several families, saved as the exporter expects them."""

from __future__ import annotations

import inspect
import random
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

LAYERS = 3
QUERY_HEADS = 6
KV_HEADS = 2
HEAD_DIMENSION = 16
POSITIONS = 128
WINDOW = 24
WORDS = 200
SHAPE = {
    "vocab_size": 256,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": QUERY_HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIMENSION,
    "max_position_embeddings": POSITIONS,
    # Far above the usual 0.02, so that attention is peaked and a wrong key or head shows.
    "initializer_range": 0.3,
}
SLIDING = {
    "sliding_window": WINDOW,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
FAMILIES = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", {}),
    "mistral": ("MistralForCausalLM", "MistralConfig", {"sliding_window": WINDOW}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**SLIDING, "query_pre_attn_scalar": 24}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**SLIDING, "query_pre_attn_scalar": 24}),
}


def save_model(folder: Path, family: str, **changes: object) -> Path:
    """Writes a model of `family` and a word tokenizer into folder/family; returns that folder."""
    model_name, config_name, extra = FAMILIES[family]
    config = getattr(transformers, config_name)(**(SHAPE | extra | changes))
    torch.manual_seed(7)
    path = folder / family
    getattr(transformers, model_name)(config).save_pretrained(path)
    tokenizer(family).save_pretrained(path)
    return path


def tokenizer(family: str) -> PreTrainedTokenizerBase:
    """One token a word, or one a character for Qwen2, whose model type fixes the tokenizer."""
    if family == "qwen2":
        characters = {character: index for index, character in enumerate("w0123456789Ġ")}
        return transformers.Qwen2Tokenizer(vocab=characters, merges=[])
    words = {f"w{index}": index for index in range(WORDS)} | {"[UNK]": WORDS}
    word_level = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    word_level.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=word_level, unk_token="[UNK]")


def text(words: int) -> str:
    """A text of so many words."""
    generator = random.Random(11)
    return " ".join(f"w{generator.randrange(WORDS)}" for _ in range(words))


def first_tokens(path: Path, text: str, count: int) -> list[int]:
    """The first tokens of a text under the model's tokenizer."""
    return transformers.AutoTokenizer.from_pretrained(path)(text)["input_ids"][:count]


def reference_step(
    path: Path, tokens: list[int]
) -> tuple[PreTrainedModel, dict[int, torch.Tensor]]:
    """One plain forward pass over all tokens, without cache, chunks or this project's code.

    Returns the model and, per layer, the input of its output projection at the last position
    [query_heads, head_dimension]: the model's own attention output.
    """
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    outputs: dict[int, torch.Tensor] = {}

    def keep(index: int, inputs: torch.Tensor) -> None:
        outputs[index] = inputs[0, -1].reshape(QUERY_HEADS, HEAD_DIMENSION).clone()

    for index, layer in enumerate(model.model.layers):
        layer.self_attn.o_proj.register_forward_pre_hook(
            lambda _module, inputs, index=index: keep(index, inputs[0])
        )
    with torch.inference_mode():
        model(input_ids=torch.tensor([tokens]), use_cache=False)
    return model, outputs


def reference_keys(model: PreTrainedModel, tokens: list[int], layer: int) -> torch.Tensor:
    """All keys [kv_heads, token, head_dimension] of a layer, from the library's own cache."""
    cache = transformers.DynamicCache()
    names = inspect.signature(model.forward).parameters
    name = "past_key_values" if "past_key_values" in names else "cache"
    with torch.inference_mode():
        model(input_ids=torch.tensor([tokens]), use_cache=True, **{name: cache})
    return cache.layers[layer].keys[0]
