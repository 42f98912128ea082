"""More tiny checkpoints of decoders alone, as decoder_fixtures.py: families
whose layers are Llama's or GPT-2's but for norms, biases, factors, or the order
of numbers in a head. "sees" ones have a tower for images, which a text does not
reach."""

from decoder_fixtures import llama_like
from decoder_head_fixtures import read
from encoder_fixtures import ENTITIES, ONE, THREE

def rope(**more):
    return {"rope_type": "default", "rope_theta": 500.0, **more}


def old_rope(**more):
    """What 4.x wrote at the top."""
    return dict(old={"rope_theta": 500.0, **more}, absent=["rope_parameters"])


def gpt_like(hidden, layers, heads, **more):
    return dict(n_embd=hidden, n_layer=layers, n_head=heads, n_positions=96, **more)


def falcon_like(hidden, layers, heads, **more):
    return dict(hidden_size=hidden, num_hidden_layers=layers, alibi=False,
                num_attention_heads=heads, max_position_embeddings=96, **more)


TOWER = dict(hidden_size=16, intermediate_size=20, num_hidden_layers=1,
             num_attention_heads=2, image_size=8, patch_size=4)
QWEN_TOWER = dict(depth=1, num_heads=2, patch_size=4)


def sees(tower, *sizes, **more):
    return dict(vision_config=tower, text_config=llama_like(*sizes, **more))


def sections(*sizes):
    """Qwen's rotary positions have a section for each direction of an image."""
    return rope(mrope_section=list(sizes))


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 24,
        "attention_factor": 1.1, "beta_fast": 32.0, "beta_slow": 1.0}

DENSE_DECODERS = [
    dict(name="olmo-clip", model="Olmo", weights=1, long=True, untied=True,
         config=llama_like(28, 2, 2, 2, 34, clip_qkv=1.1)),
    dict(name="olmo2-branch-norms", model="Olmo2", weights=1, long=True, untied=True,
         config=llama_like(30, 2, 3, 1, 38)),
    dict(name="olmo3-4x-windows-yarn", model="Olmo3", weights=1, long=True, untied=True,
         config=llama_like(28, 5, 2, 1, 34, sliding_window=19, rope_parameters={
             "sliding_attention": {"rope_type": "default", "rope_theta": 500000.0},
             "full_attention": {**YARN, "rope_theta": 700.0}}),
         old={"rope_theta": 700.0, "rope_scaling": YARN},
         absent=["rope_parameters", "layer_types"]),
    dict(name="exaone4-4x-windows", model="Exaone4", weights=1, long=True, untied=True,
         config=llama_like(32, 4, 4, 2, 34, sliding_window=19,
                           sliding_window_pattern=3, rope_parameters=rope()),
         old={"rope_theta": 500.0}, absent=["rope_parameters", "layer_types"]),
    dict(name="exaone4-no-window", model="Exaone4", weights=34,
         config=llama_like(24, 2, 4, 2, 36, sliding_window=None,
                           layer_types=["full_attention"] * 2)),
    dict(name="granite-factors", model="Granite", weights=18,
         config=llama_like(24, 2, 4, 2, 36, embedding_multiplier=0.7,
                           residual_multiplier=1.4, attention_multiplier=0.3,
                           logits_scaling=0.6, attention_bias=True, mlp_bias=True)),
    dict(name="phi-4x-part-of-heads", model="Phi", weights=3, long=True, untied=True,
         config=llama_like(28, 2, 2, 2, 40, rope_parameters=rope(
             partial_rotary_factor=0.6)),
         **old_rope(partial_rotary_factor=0.6, rope_scaling=None)),
    dict(name="phi-head-norms", model="Phi", weights=2, untied=True,
         config=llama_like(24, 2, 3, 3, 36, qk_layernorm=True)),
    dict(name="stablelm-biases", model="StableLm", weights=1, long=True, untied=True,
         config=llama_like(32, 2, 2, 1, 34, use_qkv_bias=True)),
    dict(name="stablelm-parallel-head-norms", model="StableLm", weights=5, untied=True,
         config=llama_like(24, 2, 4, 2, 36, use_parallel_residual=True,
                           qk_layernorm=True, rope_parameters=rope(
                               partial_rotary_factor=0.7))),
    dict(name="gptj-part-of-heads", model="GPTJ", weights=1, long=True, untied=True,
         config=gpt_like(28, 2, 2, rotary_dim=8)),
    dict(name="codegen-four-machines", model="CodeGen", weights=2, long=True, untied=True,
         config=gpt_like(32, 2, 4, rotary_dim=6, n_inner=50)),
    dict(name="gpt_neo-windows", model="GPTNeo", weights=6, long=True,
         config=dict(hidden_size=24, num_layers=3, num_heads=3, window_size=17,
                     max_position_embeddings=96,
                     attention_types=[[["global", "local"], 1], [["local"], 1]])),
    dict(name="gpt_bigcode-shared-key", model="GPTBigCode", weights=36, long=True,
         config=gpt_like(28, 2, 4, n_inner=50)),
    dict(name="gpt_bigcode-keys-of-heads", model="GPTBigCode", weights=6,
         config=gpt_like(24, 2, 3, multi_query=False, scale_attn_weights=False)),
    dict(name="falcon-shared-key", model="Falcon", weights=14, long=True,
         config=falcon_like(28, 2, 2)),
    dict(name="falcon-groups", model="Falcon", weights=1, untied=True,
         config=falcon_like(24, 2, 4, new_decoder_architecture=True,
                            num_kv_heads=2, bias=True, ffn_hidden_size=40)),
    dict(name="falcon-groups-one-norm", model="Falcon", weights=1,
         config=falcon_like(24, 2, 4, new_decoder_architecture=True,
                            num_kv_heads=2, num_ln_in_parallel_attn=1)),
    dict(name="falcon-sequential", model="Falcon", weights=1,
         config=falcon_like(24, 2, 3, multi_query=False, parallel_attn=False,
                            bias=True)),
    dict(name="cohere-scaled-logits", model="Cohere", weights=7, long=True,
         config=llama_like(28, 2, 2, 1, 34, logit_scale=0.4)),
    dict(name="cohere-head-norms", model="Cohere", weights=3, untied=True,
         config=llama_like(24, 2, 4, 2, 36, logit_scale=0.6, use_qk_norm=True,
                           attention_bias=True)),
    dict(name="cohere2-4x-windows", model="Cohere2", weights=9, long=True,
         config=llama_like(28, 4, 2, 1, 34, logit_scale=0.5, sliding_window=19,
                           rope_parameters=rope()),
         old={"rope_theta": 500.0, "sliding_window_pattern": 4},
         absent=["rope_parameters", "layer_types"]),
    dict(name="glm-4x-part-of-heads", model="Glm", weights=1, long=True, untied=True,
         config=llama_like(24, 2, 4, 2, 36, head_dim=12, rope_parameters=rope(
             partial_rotary_factor=0.5)),
         **old_rope(partial_rotary_factor=0.5)),
    dict(name="glm4-branch-norms", model="Glm4", weights=1, untied=True,
         config=llama_like(24, 2, 4, 2, 36, head_dim=8, attention_bias=False)),
    dict(name="nemotron-4x-part-of-heads", model="Nemotron", weights=1, long=True, untied=True,
         config=llama_like(28, 2, 2, 1, 40, rope_parameters=rope(
             partial_rotary_factor=0.6)),
         **old_rope(partial_rotary_factor=0.6)),
    dict(name="arcee-biases", model="Arcee", weights=1, untied=True,
         config=llama_like(24, 2, 4, 2, 36, attention_bias=True, mlp_bias=True)),
    dict(name="seed_oss-biases", model="SeedOss", weights=1, untied=True,
         config=llama_like(24, 2, 4, 2, 36, head_dim=8, attention_out_bias=True)),
    dict(name="ernie4_5-biases", model="Ernie4_5", weights=28,
         config=llama_like(24, 2, 4, 2, 36, head_dim=10, use_bias=True)),
    dict(name="hunyuan-4x-alpha", model="HunYuanDenseV1", weights=1, long=True, untied=True,
         config=llama_like(24, 2, 4, 2, 36, head_dim=10, rope_parameters=rope(
             rope_type="dynamic", factor=1.0, alpha=20.0)),
         **old_rope(rope_scaling={"type": "dynamic", "factor": 1.0, "alpha": 20.0})),
    dict(name="helium-biases", model="Helium", weights=1, untied=True,
         config=llama_like(24, 2, 3, 1, 36, head_dim=8, attention_bias=True,
                           mlp_bias=True)),
    dict(name="ministral-layer-types", model="Ministral", weights=1, long=True, untied=True,
         config=llama_like(28, 2, 2, 1, 34, head_dim=10, sliding_window=19,
                           layer_types=["sliding_attention", "full_attention"])),
    dict(name="ministral3-yarn", model="Ministral3", weights=1, untied=True,
         config=llama_like(24, 2, 4, 2, 36, head_dim=8, rope_parameters={
             **YARN, "rope_theta": 700.0, "original_max_position_embeddings": 48,
             "llama_4_scaling_beta": 0.1})),
    dict(name="llava-text", model="Llava", weights=1, untied=True,
         config=sees(TOWER, 24, 2, 4, 2, 36)),
    dict(name="gemma3-text", model="Gemma3", weights=1, long=True, untied=True,
         config=dict(mm_tokens_per_image=4, **sees(
             TOWER, 28, 3, 2, 1, 34, head_dim=12, sliding_window=17,
             query_pre_attn_scalar=14))),
    dict(name="mistral3-text", model="Mistral3", weights=1, untied=True,
         config=sees(TOWER, 24, 2, 4, 2, 36, head_dim=8)),
    dict(name="qwen2_vl-text", model="Qwen2VL", weights=2, untied=True,
         config=sees(dict(embed_dim=16, hidden_size=24, **QWEN_TOWER),
                     24, 2, 3, 1, 36, rope_parameters=sections(1, 1, 2))),
    dict(name="qwen2_5_vl-text", model="Qwen2_5_VL", weights=14, long=True,
         config=sees(dict(hidden_size=16, out_hidden_size=28, intermediate_size=20,
                          fullatt_block_indexes=[0], **QWEN_TOWER),
                     28, 2, 2, 1, 36, rope_parameters=sections(2, 2, 3))),
    dict(name="qwen3_vl-text", model="Qwen3VL", weights=1, untied=True,
         config=sees(dict(hidden_size=16, out_hidden_size=24, intermediate_size=20,
                          deepstack_visual_indexes=[0], num_position_embeddings=16,
                          **QWEN_TOWER),
                     24, 2, 4, 2, 36, head_dim=10, rope_parameters=sections(1, 2, 2))),
]

# They label what they read.
DENSE_DECODER_HEADS = [
    dict(name="olmo2-labels", model="Olmo2ForSequenceClassification",
         config=read(llama_like(20, 2, 2, 1, 26), **THREE)),
    dict(name="phi-tokens", model="PhiForTokenClassification",
         config=read(llama_like(24, 1, 2, 2, 30), **ENTITIES)),
    dict(name="gptj-labels", model="GPTJForSequenceClassification",
         config=read(gpt_like(24, 2, 2, rotary_dim=6), **ONE)),
    dict(name="falcon-tokens", model="FalconForTokenClassification",
         config=read(falcon_like(24, 1, 3), **ENTITIES)),
    dict(name="nemotron-labels", model="NemotronForSequenceClassification",
         config=read(llama_like(24, 1, 3, 1, 30), **ONE, problem_type="regression")),
]
