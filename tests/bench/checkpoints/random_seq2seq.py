"""Random encoder-decoders of known shapes, as transformers writes them."""

import json
import pathlib

SHAPES = ("t5-base", "bart-base")


def _config(shape):
    import transformers
    if shape == "t5-base":
        return transformers.T5Config(
            d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12,
            vocab_size=32128, decoder_start_token_id=0)
    return transformers.BartConfig(
        d_model=768, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=3072,
        decoder_ffn_dim=3072, encoder_attention_heads=12,
        decoder_attention_heads=12, vocab_size=50265,
        # CTranslate2's converter asks for it.
        normalize_before=False)


def write_model(shape, directory, seed=1):
    """No tokenizer: requests are ids. <pad> is never generated, as everybody is
    told, and nothing is forced."""
    import torch
    import transformers
    torch.manual_seed(seed)
    config = _config(shape)
    kind = (transformers.T5ForConditionalGeneration if shape == "t5-base" else
            transformers.BartForConditionalGeneration)
    model = kind(config)
    model.save_pretrained(directory)
    pathlib.Path(directory, "generation_config.json").write_text(json.dumps({
        "bad_words_ids": [[config.pad_token_id]],
        "decoder_start_token_id": config.decoder_start_token_id,
        "eos_token_id": config.eos_token_id,
        "pad_token_id": config.pad_token_id,
        "num_beams": 1, "max_length": 512}, indent=1) + "\n")


class TokensOfIds:
    """What CTranslate2's converter wants of a tokenizer, without one."""

    def __init__(self, config):
        names = {config["pad_token_id"]: "<pad>",
                 config["eos_token_id"]: "</s>"}
        self.tokens = [names.get(i, f"x{i}")
                       for i in range(config["vocab_size"])]
        self.pad_token, self.eos_token = "<pad>", "</s>"
        self.bos_token = self.convert_ids_to_tokens(
            config["decoder_start_token_id"])
        self.unk_token = self.tokens[3]

    def convert_ids_to_tokens(self, i):
        return self.tokens[i]

    def get_vocab(self):
        return {token: i for i, token in enumerate(self.tokens)}
