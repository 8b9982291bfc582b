"""A folder with a tiny model of random weights and a tokenizer of single characters."""

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

CHARACTERS = [chr(code) for code in range(32, 127)] + ["\n"]


def write(folder, kind="Llama", positions=2048, **more):
    """Two layers, four query heads on two KV heads of 16 features."""
    vocabulary = {character: number for number, character in enumerate(["<end>", *CHARACTERS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>",
                                         unk_token="<end>").save_pretrained(folder)
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(vocabulary), hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=positions,
        eos_token_id=0, **more)
    getattr(transformers, f"{kind}ForCausalLM")(config).save_pretrained(folder)
