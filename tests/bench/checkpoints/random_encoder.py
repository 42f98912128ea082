"""Random models that embed, of known shapes: for Attend, and as ONNX for its peers."""

import dataclasses
import json
import pathlib

VOCAB = 30522
FIRST_ID = 1000  # of ordinary tokens; below are special and unused ones
MAX_POSITIONS = 512
# The version of ONNX's operators by the kind of model, where it is not 17. In
# int8 ONNX Runtime is a tenth faster with the layer norms of version 11, which
# it does not fuse with the sums before them.
OPSETS = {"bert": 11, "xlm-roberta": 11}


@dataclasses.dataclass(frozen=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    ffn: int
    kind: str = "bert"
    kv_heads: int = 0  # of a decoder
    head_dim: int = 0  # of a decoder
    vocab: int = VOCAB


SHAPES = {
    "minilm": Shape(hidden=384, layers=6, heads=12, ffn=1536),
    "bert-base": Shape(hidden=768, layers=12, heads=12, ffn=3072),
    # DeBERTa v3, but for the vocabulary.
    "deberta-small": Shape(hidden=768, layers=6, heads=12, ffn=3072,
                           kind="deberta"),
    "deberta-base": Shape(hidden=768, layers=12, heads=12, ffn=3072,
                          kind="deberta"),
    "xlm-r-large": Shape(hidden=1024, layers=24, heads=16, ffn=4096,
                         kind="xlm-roberta", vocab=250002),
    # Qwen3-Embedding 0.6B, but for the vocabulary.
    "qwen3-0.6b": Shape(hidden=1024, layers=28, heads=16, ffn=3072, kind="qwen3",
                        kv_heads=8, head_dim=128),
}


def token_weights(name):
    """Weights of the matrices of a shape that each token is multiplied with. Tables
    of positions are left out."""
    shape = SHAPES[name]
    width = shape.heads * shape.head_dim or shape.hidden
    shared = 2 * shape.kv_heads * shape.head_dim or 2 * shape.hidden
    matrices = 3 if shape.kind == "qwen3" else 2
    return shape.layers * shape.hidden * (
        2 * width + shared + matrices * shape.ffn)


def new_model(shape):
    import transformers
    sizes = dict(
        vocab_size=shape.vocab, hidden_size=shape.hidden,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
        intermediate_size=shape.ffn, max_position_embeddings=MAX_POSITIONS)
    if shape.kind == "bert":
        return transformers.BertModel(transformers.BertConfig(**sizes),
                                      add_pooling_layer=False)
    if shape.kind == "xlm-roberta":
        # Positions begin behind that of padding.
        return transformers.XLMRobertaModel(
            transformers.XLMRobertaConfig(**sizes | {
                "max_position_embeddings": MAX_POSITIONS + 2,
                "type_vocab_size": 1, "layer_norm_eps": 1e-5}),
            add_pooling_layer=False)
    if shape.kind == "qwen3":
        return transformers.Qwen3Model(transformers.Qwen3Config(
            num_key_value_heads=shape.kv_heads, head_dim=shape.head_dim,
            rms_norm_eps=1e-6, **sizes))
    return transformers.DebertaV2Model(transformers.DebertaV2Config(
        relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm",
        share_att_key=True, pos_att_type="p2c|c2p", max_relative_positions=-1,
        position_biased_input=False, type_vocab_size=0, **sizes))


def write_model(shape, directory, seed=1):
    """A Hugging Face directory that embeds by the mean of its tokens, or, if it is
    a decoder, by the last one."""
    import torch
    directory = pathlib.Path(directory)
    torch.manual_seed(seed)
    model = new_model(shape)
    model.save_pretrained(directory)
    (directory / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "",
         "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling",
         "type": "sentence_transformers.models.Pooling"}]))
    (directory / "1_Pooling").mkdir(exist_ok=True)
    last = shape.kind == "qwen3"
    (directory / "1_Pooling/config.json").write_text(json.dumps(
        {"word_embedding_dimension": shape.hidden,
         "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": not last,
         "pooling_mode_max_tokens": False,
         "pooling_mode_mean_sqrt_len_tokens": False,
         "pooling_mode_lasttoken": last}))


def write_onnx(model, path):
    """The model and what it pools, of any batch and length."""
    import torch
    import transformers
    # Written out, attention is a pattern that the runtimes know and fuse.
    encoder = transformers.AutoModel.from_pretrained(
        model, attn_implementation="eager")
    least = torch.finfo(torch.float32).min

    def mean(hidden, kept):
        kept = kept.unsqueeze(-1)
        return (hidden * kept).sum(1) / kept.sum(1)

    def bert(input_ids, attention_mask):
        kept = attention_mask.to(torch.float32)
        return mean(encoder(
            input_ids=input_ids,
            attention_mask=((1 - kept) * least)[:, None, None, :],
            token_type_ids=torch.zeros_like(input_ids)).last_hidden_state, kept)

    def deberta(input_ids, attention_mask):
        return mean(encoder(
            input_ids=input_ids, attention_mask=attention_mask,
            token_type_ids=torch.zeros_like(input_ids)).last_hidden_state,
            attention_mask.to(torch.float32))

    def qwen3(input_ids, attention_mask):
        # Padding is on the right, where no token of the source sees it.
        tokens = torch.ones_like(input_ids[0]).to(torch.float32)
        later = torch.triu(tokens[:, None] * tokens[None, :], 1) * least
        hidden = encoder(
            input_ids=input_ids, use_cache=False,
            attention_mask=later[None, None].expand(input_ids.shape[0], 1, -1,
                                                    -1)).last_hidden_state
        last = attention_mask.sum(1) - 1
        return hidden[torch.arange(input_ids.shape[0]), last]

    kind = encoder.config.model_type
    pooled = {"bert": bert, "xlm-roberta": bert, "deberta-v2": deberta, "qwen3": qwen3}[kind]

    class Embedder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids, attention_mask):
            return pooled(input_ids, attention_mask)

    ids = torch.randint(FIRST_ID, VOCAB, (2, 16))
    axes = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        Embedder().eval(), (ids, torch.ones_like(ids)), str(path),
        input_names=["input_ids", "attention_mask"],
        output_names=["sentence_embedding"], dynamo=False,
        opset_version=OPSETS.get(kind, 17),
        dynamic_axes={"input_ids": axes, "attention_mask": axes,
                      "sentence_embedding": {0: "batch"}})


def write_int8(onnx, path, per_channel=False, large=False):
    """ONNX Runtime's dynamic quantisation; `large`: weights in files beside it."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    quantize_dynamic(str(onnx), str(path), weight_type=QuantType.QInt8,
                     per_channel=per_channel, use_external_data_format=large)


def write_all(shape, directory):
    """The model of a shape, and as ONNX in f32 and in int8; kept if there."""
    model, onnx = directory / shape, directory / f"{shape}.onnx"
    onnx_int8 = directory / f"{shape}-int8.onnx"
    if not onnx_int8.exists():
        write_model(SHAPES[shape], model)
        write_onnx(model, onnx)
        # Above 2 GB only the graph is in the file itself.
        write_int8(onnx, onnx_int8, large=SHAPES[shape].vocab > VOCAB)
    return model, (onnx, onnx_int8)
