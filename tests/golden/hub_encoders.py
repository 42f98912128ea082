"""Encoders as hubs have them with code of their own, which transformers has in
another form or not at all."""

import json
import math

import safetensors.torch
import torch
from torch import nn
from transformers import BertConfig, PretrainedConfig, PreTrainedModel

from checkpoints import write_json


def ntk(factor):
    """Fixed NTK scaling: the frequencies of theta * factor, divided by
    factor^(2 / d)."""
    def scale(model):
        rotary = model.rotary_emb
        dims = 2 * len(rotary.inv_freq)
        theta = model.config.rope_parameters["rope_theta"] * factor
        steps = torch.arange(0, dims, 2).float() / dims
        rotary.inv_freq = 1.0 / theta ** steps / factor ** (2 / dims)
    return scale


def spell_new(more):
    """Makes a checkpoint of GteModel one of NewModel."""
    def spell(folder):
        config = json.loads((folder / "config.json").read_text())
        rope = config.pop("rope_parameters")
        name = config["architectures"][0].replace("Gte", "New")
        config.update(model_type="new", architectures=[name], auto_map={
            "AutoModel": f"Alibaba-NLP/new-impl--modeling.{name}"},
            layer_norm_type="layer_norm", logn_attention_clip1=False,
            logn_attention_scale=False, pack_qkv=True, unpad_inputs=False,
            position_embedding_type="rope", rope_theta=rope["rope_theta"],
            use_memory_efficient_attention=False, **more)
        write_json(folder / "config.json", config, indent=2)
        path = folder / "model.safetensors"
        state = safetensors.torch.load_file(path)
        safetensors.torch.save_file(
            {"new." + name[4:] if name.startswith("gte.") else name: tensor
             for name, tensor in state.items()}, path, metadata={"format": "pt"})
    return spell


def slopes(heads):
    """Of linear biases: Press et al. 2022."""
    power = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    more = [2 ** (-4 * (i + 1) / power) for i in range(0, 2 * power, 2)]
    return torch.tensor(first + more[:heads - power])


class JinaAttention(nn.Module):
    def __init__(self, config, query_norms=False):
        super().__init__()
        hidden = config.hidden_size
        self.self = nn.ModuleDict({name: nn.Linear(hidden, hidden)
                                   for name in ("query", "key", "value")})
        self.output = nn.ModuleDict({
            "dense": nn.Linear(hidden, hidden),
            "LayerNorm": nn.LayerNorm(hidden, config.layer_norm_eps)})
        for name in ("layer_norm_q", "layer_norm_k") if query_norms else ():
            self.self[name] = nn.LayerNorm(hidden, config.layer_norm_eps)
        self.heads = config.num_attention_heads

    def forward(self, x, mask):
        """x [tokens, hidden], mask [tokens]"""
        q, k, v = (self.self[name](x) for name in ("query", "key", "value"))
        if "layer_norm_q" in self.self:
            q, k = self.self["layer_norm_q"](q), self.self["layer_norm_k"](k)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(0, 1)
                   for part in (q, k, v))
        places = torch.arange(len(x))
        distances = (places[:, None] - places[None, :]).abs()
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        scores = scores - slopes(self.heads)[:, None, None] * distances
        scores = scores.masked_fill(mask[None, None, :] == 0, -torch.inf)
        heads = torch.softmax(scores, -1) @ v
        added = self.output["dense"](heads.transpose(0, 1).flatten(1))
        return self.output["LayerNorm"](x + added)


class JinaFeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gated_layers = nn.Linear(config.hidden_size,
                                      2 * config.intermediate_size, bias=False)
        self.wo = nn.Linear(config.intermediate_size, config.hidden_size)
        self.layernorm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.act = nn.GELU() if config.feed_forward_type == "geglu" else nn.ReLU()

    def forward(self, x):
        gate, value = self.gated_layers(x).chunk(2, -1)
        return self.layernorm(x + self.wo(self.act(gate) * value))


class JinaLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = JinaAttention(config)
        self.mlp = JinaFeedForward(config)

    def forward(self, x, mask):
        return self.mlp(self.attention(x, mask))


class JinaCodeLayer(nn.Module):
    """jinaai/jina-bert-v2-qk-post-norm: norms of queries and keys over all heads,
    and a second sum after attention."""

    def __init__(self, config):
        super().__init__()
        hidden, width = config.hidden_size, config.intermediate_size
        self.attention = JinaAttention(config, query_norms=True)
        self.mlp = nn.ModuleDict({
            "up_gated_layer": nn.Linear(hidden, 2 * width, bias=False),
            "down_layer": nn.Linear(width, hidden)})
        self.layer_norm_1 = nn.LayerNorm(hidden, config.layer_norm_eps)
        self.layer_norm_2 = nn.LayerNorm(hidden, config.layer_norm_eps)
        self.act = nn.GELU() if config.feed_forward_type == "geglu" else nn.ReLU()

    def forward(self, x, mask):
        x = self.layer_norm_1(x + self.attention(x, mask))
        value, gate = self.mlp["up_gated_layer"](x).chunk(2, -1)
        return self.layer_norm_2(x + self.mlp["down_layer"](value * self.act(gate)))


class JinaBertModel(PreTrainedModel):
    """Günther et al. 2023."""
    layer = JinaLayer
    config_class = BertConfig
    base_model_prefix = "bert"

    def __init__(self, config):
        super().__init__(config)
        hidden = config.hidden_size
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(config.vocab_size, hidden),
            "token_type_embeddings": nn.Embedding(config.type_vocab_size, hidden),
            "LayerNorm": nn.LayerNorm(hidden, config.layer_norm_eps)})
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(
            self.layer(config) for _ in range(config.num_hidden_layers))})
        self.pooler = nn.ModuleDict({"dense": nn.Linear(hidden, hidden)})
        self.post_init()

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        table = self.embeddings
        x = table["LayerNorm"](table["word_embeddings"](input_ids[0]) +
                               table["token_type_embeddings"](types[0]))
        for layer in self.encoder["layer"]:
            x = layer(x, attention_mask[0])
        return (x[None],)


class JinaCodeModel(JinaBertModel):
    """jina-embeddings-v2-base-code; its class on hubs is JinaBertModel."""
    layer = JinaCodeLayer


def spell_jina_code(folder):
    """The file names the head of the pre-training, whose weights are not there."""
    config = json.loads((folder / "config.json").read_text())
    code = "jinaai/jina-bert-v2-qk-post-norm"
    config.update(
        _name_or_path=code, architectures=["JinaBertForMaskedLM"],
        attn_implementation=None, emb_pooler="mean", auto_map={
            "AutoConfig": code + "--configuration_bert.JinaBertConfig",
            "AutoModel": code + "--modeling_bert.JinaBertModel",
            "AutoModelForMaskedLM": code + "--modeling_bert.JinaBertForMaskedLM"})
    write_json(folder / "config.json", config, indent=2)


class JinaBertForSequenceClassification(PreTrainedModel):
    config_class = BertConfig
    base_model_prefix = "bert"

    def __init__(self, config):
        super().__init__(config)
        self.bert = JinaBertModel(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, **inputs):
        first = self.bert(**inputs)[0][:, 0]
        return (self.classifier(torch.tanh(self.bert.pooler["dense"](first))),)


class NeoBERTConfig(PretrainedConfig):
    model_type = "neobert"


def turned(x):
    """Rotates x [heads, tokens, d]: numbers that are rotated together stand
    together (Su et al. 2021)."""
    dims = x.shape[-1]
    angles = torch.arange(x.shape[1])[:, None].float() / 10000.0 ** (
        torch.arange(0, dims, 2).float() / dims)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * angles.cos() - b * angles.sin(),
                        a * angles.sin() + b * angles.cos()], -1).flatten(-2)


class NeoLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, width = config.hidden_size, int(2 * config.intermediate_size / 3)
        width = (width + 7) // 8 * 8
        self.heads = config.num_attention_heads
        self.qkv = nn.Linear(hidden, 3 * hidden, bias=False)
        self.wo = nn.Linear(hidden, hidden, bias=False)
        self.attention_norm = nn.RMSNorm(hidden, config.norm_eps)
        self.ffn_norm = nn.RMSNorm(hidden, config.norm_eps)
        self.ffn = nn.ModuleDict({"w12": nn.Linear(hidden, 2 * width, bias=False),
                                  "w3": nn.Linear(width, hidden, bias=False)})

    def forward(self, x, mask):
        """x [tokens, hidden], mask [tokens]"""
        heads = self.qkv(self.attention_norm(x)).unflatten(-1, (self.heads, -1))
        q, k, v = heads.transpose(0, 1).chunk(3, -1)
        scores = turned(q) @ turned(k).transpose(1, 2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(mask[None, None, :] == 0, -torch.inf)
        added = torch.softmax(scores, -1) @ v
        x = x + self.wo(added.transpose(0, 1).flatten(1))
        gate, value = self.ffn["w12"](self.ffn_norm(x)).chunk(2, -1)
        return x + self.ffn["w3"](nn.functional.silu(gate) * value)


class NeoBERTModel(PreTrainedModel):
    """Le Breton et al. 2025; its class on hubs is NeoBERT."""
    config_class = NeoBERTConfig
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        self.encoder = nn.Embedding(config.vocab_size, config.hidden_size)
        self.transformer_encoder = nn.ModuleList(
            NeoLayer(config) for _ in range(config.num_hidden_layers))
        self.layer_norm = nn.RMSNorm(config.hidden_size, config.norm_eps)
        self.post_init()

    def forward(self, input_ids, attention_mask):
        x = self.encoder(input_ids[0])
        for layer in self.transformer_encoder:
            x = layer(x, attention_mask[0])
        return (self.layer_norm(x)[None],)


class NeoBERTForMaskedLM(PreTrainedModel):
    config_class = NeoBERTConfig
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        self.model = NeoBERTModel(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def forward(self, **inputs):
        return (self.decoder(self.model(**inputs)[0]),)


def spell_neobert(folder):
    """The names of the classes on hubs."""
    config = json.loads((folder / "config.json").read_text())
    is_head = config["architectures"] == ["NeoBERTForMaskedLM"]
    config["architectures"] = ["NeoBERTLMHead" if is_head else "NeoBERT"]
    config["max_length"] = config.pop("max_position_embeddings")
    write_json(folder / "config.json", config, indent=2)
