"""An encoder with a mixture of experts as hubs have it with code of its own: a
twin of nomic-ai/nomic-bert-2048 with experts (nomic-embed-text-v2-moe), after
its paper and its configuration, since transformers has the family without
experts only."""

import json

import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel

from checkpoints import write_json

MIN_GAP = 1e-4  # between the weights of an expert that is chosen and one that is not


class NomicExpertsConfig(PretrainedConfig):
    model_type = "nomic_bert"
    attribute_map = {"hidden_size": "n_embd", "num_hidden_layers": "n_layer",
                     "num_attention_heads": "n_head",
                     "max_position_embeddings": "n_positions"}


def rotated(x, theta):
    """x [heads, tokens, d]: number i is rotated with number i + d / 2."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1])[:, None].float() / theta ** (
        torch.arange(0, half).float() / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(),
                      b * angles.cos() + a * angles.sin()], -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, bias = config.hidden_size, config.qkv_proj_bias
        self.Wqkv = nn.Linear(hidden, 3 * hidden, bias=bias)
        self.out_proj = nn.Linear(hidden, hidden, bias=bias)
        self.heads, self.theta = config.num_attention_heads, config.rotary_emb_base

    def forward(self, x, mask):
        """x [tokens, hidden], mask [tokens]"""
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(0, 1)
                   for part in self.Wqkv(x).chunk(3, -1))
        scores = rotated(q, self.theta) @ rotated(k, self.theta).transpose(1, 2)
        scores = (scores / q.shape[-1] ** 0.5).masked_fill(
            mask[None, None, :] == 0, -torch.inf)
        return self.out_proj((torch.softmax(scores, -1) @ v).transpose(0, 1).flatten(1))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.n_inner, bias=config.mlp_fc1_bias)
        self.fc2 = nn.Linear(config.n_inner, config.hidden_size, bias=config.mlp_fc2_bias)

    def forward(self, x):
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class Experts(nn.Module):
    """Every expert computes every row; what did not choose it counts nothing."""

    def __init__(self, config):
        super().__init__()
        shape = (config.num_experts * config.n_inner, config.hidden_size)
        self.router = nn.ModuleDict({"layer": nn.Linear(
            config.hidden_size, config.num_experts, bias=False)})
        self.experts = nn.ParameterDict({"bias": torch.zeros(config.hidden_size)})
        self.experts.mlp = nn.ParameterDict(
            {"w1": torch.zeros(shape), "w2": torch.zeros(shape)})
        self.count, self.chosen = config.num_experts, config.moe_top_k

    def forward(self, x):
        weights = torch.softmax(self.router["layer"](x).float(), -1)
        least = torch.sort(weights, -1, descending=True)[0][:, self.chosen - 1:]
        assert (least[:, 0] - least[:, 1]).min() > MIN_GAP
        weights = weights * (weights >= least[:, :1])
        total = torch.zeros_like(x)
        for i, (w1, w2) in enumerate(zip(self.experts.mlp["w1"].chunk(self.count),
                                         self.experts.mlp["w2"].chunk(self.count))):
            total += weights[:, i, None] * (nn.functional.gelu(x @ w1.T) @ w2)
        return total + self.experts["bias"]


class Layer(nn.Module):
    def __init__(self, config, has_experts):
        super().__init__()
        self.attn = Attention(config)
        self.mlp = Experts(config) if has_experts else FeedForward(config)
        self.norm1 = nn.LayerNorm(config.hidden_size, config.layer_norm_epsilon)
        self.norm2 = nn.LayerNorm(config.hidden_size, config.layer_norm_epsilon)

    def forward(self, x, mask):
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(x + self.mlp(x))


class NomicExpertsModel(PreTrainedModel):
    """Nussbaum and Duderstadt 2025; its class on hubs is NomicBertModel."""
    config_class = NomicExpertsConfig
    base_model_prefix = "bert"

    def __init__(self, config):
        super().__init__(config)
        hidden = config.hidden_size
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(config.vocab_size, hidden),
            "token_type_embeddings": nn.Embedding(config.type_vocab_size, hidden)})
        self.emb_ln = nn.LayerNorm(hidden, config.layer_norm_epsilon)
        self.encoder = nn.ModuleDict({"layers": nn.ModuleList(
            Layer(config, i % config.moe_every_n_layers == 1)
            for i in range(config.num_hidden_layers))})
        self.post_init()

    def forward(self, input_ids, attention_mask):
        x = self.emb_ln(self.embeddings["word_embeddings"](input_ids[0]) +
                        self.embeddings["token_type_embeddings"].weight[0])
        for layer in self.encoder["layers"]:
            x = layer(x, attention_mask[0])
        return (x[None],)


def nomic_experts(**more):
    """A configuration in the words of nomic-embed-text-v2-moe."""
    return {**dict(
        vocab_size=61, n_embd=24, n_head=3, n_layer=4, n_inner=18, n_positions=56,
        type_vocab_size=1, layer_norm_epsilon=1e-5, activation_function="gelu",
        causal=False, prenorm=False, parallel_block=False, qkv_proj_bias=True,
        mlp_fc1_bias=True, mlp_fc2_bias=True, rotary_emb_base=10000,
        rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
        rotary_emb_scale_base=None, rotary_scaling_factor=None, use_rms_norm=None,
        num_experts=5, moe_top_k=2, moe_every_n_layers=2, num_shared_experts=0,
        moe_impl="megablocks", moe_normalize_expert_weights=False, ffn_div=1,
        expert_choice_router=False, router_aux_loss_coef=0.1, max_trained_positions=56,
        pad_vocab_to_multiple_of=64, add_pooling_layer=False, pad_token_id=1), **more}


def spell_nomic(folder):
    config = json.loads((folder / "config.json").read_text())
    config.update(architectures=["NomicBertModel"], auto_map={
        "AutoConfig": "nomic-ai/nomic-bert-2048--configuration_hf_nomic_bert."
                      "NomicBertConfig",
        "AutoModel": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert."
                     "NomicBertModel"})
    write_json(folder / "config.json", config, indent=2)
