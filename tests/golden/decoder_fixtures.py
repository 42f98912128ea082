"""The tiny checkpoints of decoders alone under families/, as tables.

Each is named after what it shows that the others of its family do not. "4x"
fixtures have a config.json as 4.x wrote it ("old" holds what only 4.x has),
prompts over several blocks of the cache and over the window, and odd sizes; the
others are as 5.x saves them, with short prompts. "original" is the length
beyond which rotary positions of a fixture change; its prompts end on both sides.
"""


def llama_like(hidden, layers, heads, kv_heads, width, **more):
    """Sizes in Llama's words."""
    return dict(hidden_size=hidden, num_hidden_layers=layers,
                num_attention_heads=heads, num_key_value_heads=kv_heads,
                intermediate_size=width,
                **{"max_position_embeddings": 96, **more})


def neox_like(hidden, layers, heads, width, **more):
    return dict(hidden_size=hidden, num_hidden_layers=layers,
                num_attention_heads=heads, intermediate_size=width,
                max_position_embeddings=96, **more)


def modern_like(hidden, layers, heads, width, **more):
    """`local_attention` is twice the window."""
    return neox_like(hidden, layers, heads, width, cls_token_id=0, sep_token_id=2,
                     **more)


def bert_like(hidden, heads, layers, width, **more):
    return llama_like(hidden, layers, heads, heads, width, is_decoder=True,
                      **more)


def gemma_like(*sizes, **more):
    return llama_like(*sizes, query_pre_attn_scalar=14, **more)


LLAMA_3 = {"rope_type": "llama3", "rope_theta": 5000.0, "factor": 8.0,
           "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 32}

LONG = {"short_factor": [1.0, 1.15, 1.3], "long_factor": [1.1, 2.5, 4.0]}

# Seeds of their own: those of other decoders follow from their places.
FAIRSEQ_DECODERS = [
    dict(name="xglm-scaled", model="XGLM", seed=4800, weights=4811,
         config=dict(d_model=22, num_layers=2, attention_heads=2, ffn_dim=38,
                     max_position_embeddings=64)),
    dict(name="biogpt-4x-unscaled", model="BioGpt", seed=4810, weights=4811, long=True,
         config=dict(hidden_size=21, num_hidden_layers=2, num_attention_heads=3,
                     intermediate_size=34, max_position_embeddings=96,
                     scale_embedding=False, hidden_act="gelu_new"),
         old={"layer_norm_eps": 1e-12}),
    dict(name="bert-causal", model="Bert", seed=4820, weights=4821,
         config=bert_like(21, 3, 2, 34)),
    dict(name="bert-causal-long", model="Bert", seed=4830, weights=4835, long=True,
         untied=True, config=bert_like(22, 2, 2, 30, hidden_act="relu")),
    dict(name="bert-generation-causal", model="BertGeneration", seed=4860, weights=4861,
         config=bert_like(20, 4, 1, 30)),
]

DECODERS = [
    dict(name="gpt2-gelu", model="GPT2", weights=18,
         config=dict(n_embd=24, n_layer=2, n_head=3, n_positions=64)),
    dict(name="gpt2-4x-relu-long", model="GPT2", weights=24, long=True,
         config=dict(n_embd=28, n_layer=1, n_head=2, n_positions=96, n_inner=50,
                     activation_function="relu"),
         old={"n_ctx": 96, "summary_type": "cls_index", "task_specific_params":
              {"text-generation": {"do_sample": True, "max_length": 50}}}),
    dict(name="llama-llama3-rope", model="Llama", weights=15,
         config=llama_like(24, 2, 4, 2, 36, head_dim=10, rope_parameters=LLAMA_3)),
    dict(name="llama-4x-linear-rope", model="Llama", weights=8, long=True, untied=True,
         config=llama_like(30, 2, 5, 5, 38, attention_bias=True, mlp_bias=True,
                           rope_parameters={"rope_type": "linear", "factor": 2.5,
                                            "rope_theta": 300.0}),
         old={"rope_theta": 300.0, "rope_scaling": {"type": "linear", "factor": 2.5},
              "pretraining_tp": 1},
         absent=["rope_parameters", "head_dim"]),
    dict(name="mistral-no-window", model="Mistral", weights=17, untied=True,
         config=llama_like(24, 2, 4, 1, 36, head_dim=8, sliding_window=None)),
    dict(name="mistral-4x-window", model="Mistral", weights=14, long=True, untied=True,
         config=llama_like(28, 2, 2, 2, 30, sliding_window=19),
         old={"rope_theta": 10000.0},
         absent=["rope_parameters", "head_dim", "layer_types"]),
    dict(name="qwen2-window-in-some-layers", model="Qwen2", weights=14,
         config=llama_like(24, 3, 4, 2, 36, use_sliding_window=True,
                           sliding_window=7, max_window_layers=1)),
    dict(name="qwen2-4x-yarn-rope", model="Qwen2", weights=10, long=True, untied=True,
         config=llama_like(28, 2, 2, 1, 34, rope_parameters={
             "rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0,
             "original_max_position_embeddings": 24}),
         old={"rope_theta": 1000.0, "use_sliding_window": False,
              "rope_scaling": {"type": "yarn", "factor": 4.0,
                               "original_max_position_embeddings": 24}},
         absent=["rope_parameters", "layer_types"]),
    dict(name="gpt_neox-parallel", model="GPTNeoX", weights=9, untied=True,
         config=neox_like(24, 2, 3, 36)),
    dict(name="gpt_neox-4x-sequential", model="GPTNeoX", weights=13, long=True, untied=True,
         config=neox_like(28, 2, 2, 40, use_parallel_residual=False,
                          attention_bias=False, rope_parameters={
                              "rope_type": "default", "rope_theta": 500.0,
                              "partial_rotary_factor": 0.72}),
         old={"rotary_emb_base": 500, "rotary_pct": 0.72},
         absent=["rope_parameters"]),
    dict(name="opt-pre-norm", model="OPT", weights=22,
         config=dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                     ffn_dim=50, max_position_embeddings=64)),
    dict(name="opt-4x-post-norm-projected", model="OPT", weights=13, long=True,
         config=dict(hidden_size=28, num_hidden_layers=2, num_attention_heads=2,
                     ffn_dim=58, max_position_embeddings=96,
                     do_layer_norm_before=False, activation_function="gelu",
                     word_embed_proj_dim=18),
         old={"prefix": "</s>", "_remove_final_layer_norm": False,
              "layerdrop": 0.0}),
    dict(name="qwen3-head-norms", model="Qwen3", weights=17,
         config=llama_like(24, 2, 4, 2, 36, head_dim=10)),
    dict(name="qwen3-4x-window", model="Qwen3", weights=18, long=True, untied=True,
         config=llama_like(30, 3, 3, 1, 34, head_dim=14, attention_bias=True,
                           use_sliding_window=True, sliding_window=21,
                           max_window_layers=2),
         old={"rope_theta": 10000.0, "rope_scaling": None},
         absent=["rope_parameters", "layer_types"]),
    dict(name="phi3-plain-rope", model="Phi3", weights=12, untied=True,
         config=llama_like(24, 2, 4, 2, 36)),
    dict(name="phi3-4x-longrope", model="Phi3", weights=4, long=True, untied=True,
         original=42,
         config=llama_like(30, 2, 3, 1, 38, sliding_window=18,
                           original_max_position_embeddings=42,
                           rope_parameters={**LONG, "rope_type": "longrope",
                                            "rope_theta": 500.0,
                                            "partial_rotary_factor": 0.6}),
         old={"rope_theta": 500.0, "rope_scaling": {**LONG, "type": "longrope"},
              "partial_rotary_factor": 0.6},
         absent=["rope_parameters"]),
    dict(name="gemma2-softcaps", model="Gemma2", weights=8,
         config=gemma_like(24, 2, 4, 2, 36, head_dim=8, sliding_window=6,
                           attn_logit_softcapping=2.5,
                           final_logit_softcapping=4.0)),
    dict(name="gemma2-4x-uncapped-logits", model="Gemma2", weights=15, long=True,
         config=gemma_like(28, 3, 2, 1, 34, head_dim=10, sliding_window=17,
                           attn_logit_softcapping=3.0,
                           final_logit_softcapping=None),
         old={"rope_theta": 10000.0, "cache_implementation": "hybrid"},
         absent=["rope_parameters", "layer_types"]),
    dict(name="gemma3-layer-types", model="Gemma3", config_name="Gemma3Text", weights=12,
         config=gemma_like(24, 3, 4, 2, 36, head_dim=8, sliding_window=6,
                           layer_types=["sliding_attention", "full_attention",
                                        "sliding_attention"],
                           rope_parameters={
                               "sliding_attention": {"rope_type": "default",
                                                     "rope_theta": 100.0},
                               "full_attention": {"rope_type": "linear",
                                                  "factor": 4.0,
                                                  "rope_theta": 5000.0}})),
    dict(name="gemma3-4x-window-pattern", model="Gemma3", config_name="Gemma3Text", weights=21,
         long=True,
         config=gemma_like(28, 3, 2, 1, 34, head_dim=12, sliding_window=17,
                           sliding_window_pattern=2, rope_parameters={
                               "sliding_attention": {"rope_type": "default",
                                                     "rope_theta": 10000.0},
                               "full_attention": {"rope_type": "linear",
                                                  "factor": 8.0,
                                                  "rope_theta": 1000000.0}}),
         old={"rope_theta": 1000000.0, "rope_local_base_freq": 10000.0,
              "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
              "sliding_window_pattern": 2},
         absent=["rope_parameters", "layer_types"]),
    dict(name="bloom-3-heads", model="Bloom", weights=16,
         config=dict(hidden_size=24, n_layer=2, n_head=3)),
    dict(name="bloom-4x-7-heads", model="Bloom", weights=6, long=True,
         config=dict(hidden_size=28, n_layer=2, n_head=7),
         old={"n_embed": 28, "num_attention_heads": 7, "seq_length": 96,
              "pretraining_tp": 4, "offset_alibi": 100, "bias_dropout_fusion":
              True, "masked_softmax_fusion": True, "skip_bias_add": True},
         absent=["n_head", "hidden_size"]),
    dict(name="mpt-defaults", model="Mpt", weights=12,
         config=dict(d_model=24, n_layers=2, n_heads=3, max_seq_len=64)),
    dict(name="mpt-4x-clip", model="Mpt", weights=2, long=True,
         config=dict(d_model=28, n_layers=2, n_heads=7, max_seq_len=96,
                     attn_config={"alibi": True, "alibi_bias_max": 8,
                                  "softmax_scale": 0.7, "clip_qkv": 0.9}),
         old={"init_config": {"name": "kaiming_normal_"}, "verbose": 0}),
    dict(name="llama-4x-dynamic-rope", model="Llama", weights=5, long=True, untied=True,
         original=40,
         config=llama_like(28, 2, 2, 2, 38, max_position_embeddings=40,
                           rope_parameters={"rope_type": "dynamic", "factor": 3.5,
                                            "rope_theta": 300.0}),
         old={"rope_theta": 300.0,
              "rope_scaling": {"type": "dynamic", "factor": 3.5}},
         absent=["rope_parameters", "head_dim"]),
    dict(name="starcoder2-layer-norms", model="Starcoder2", weights=21,
         config=llama_like(24, 2, 4, 2, 36)),
    dict(name="starcoder2-4x-window-no-biases", model="Starcoder2", weights=11, long=True,
         untied=True,
         config=llama_like(28, 2, 2, 1, 34, use_bias=False, sliding_window=19,
                           hidden_act="gelu", rope_parameters={
                               "rope_type": "default", "rope_theta": 700.0}),
         old={"rope_theta": 700.0, "rope_scaling": None},
         absent=["rope_parameters"]),
    dict(name="smollm3-no-rope-in-some-layers", model="SmolLM3", weights=16,
         config=llama_like(24, 3, 4, 2, 36, no_rope_layers=[1, 0, 1],
                           rope_parameters={"rope_type": "default",
                                            "rope_theta": 500.0})),
    dict(name="smollm3-4x-windows", model="SmolLM3", weights=12, long=True, untied=True,
         config=llama_like(30, 4, 3, 1, 34, no_rope_layer_interval=2,
                           attention_bias=True, use_sliding_window=True,
                           sliding_window=19, rope_parameters={
                               "rope_type": "default", "rope_theta": 3000.0}),
         old={"rope_theta": 3000.0, "rope_scaling": None, "pretraining_tp": 2},
         absent=["rope_parameters", "layer_types", "no_rope_layers"]),
    dict(name="gemma-wide-heads", model="Gemma", weights=9,
         config=llama_like(24, 2, 4, 1, 36, head_dim=10)),
    dict(name="smollm3-every-fourth-without-rope", model="SmolLM3", weights=8,
         config=llama_like(24, 5, 4, 2, 36, rope_parameters={
             "rope_type": "default", "rope_theta": 500.0})),
    dict(name="mpt-clipped", model="Mpt", weights=12,
         config=dict(d_model=24, n_layers=2, n_heads=3, max_seq_len=64,
                     attn_config={"clip_qkv": 0.9})),
    dict(name="modernbert-decoder-tied", seed=4320, model="ModernBertDecoder", weights=9,
         config=modern_like(24, 3, 3, 26, local_attention=11)),
    dict(name="modernbert-decoder-4x-biases", seed=4330, model="ModernBertDecoder", weights=9,
         long=True, untied=True,
         config=modern_like(28, 3, 2, 30, local_attention=38, norm_bias=True,
                            attention_bias=True, mlp_bias=True, classifier_bias=True,
                            decoder_bias=False, classifier_activation="silu",
                            hidden_activation="gelu_new",
                            layer_types=["full_attention", "sliding_attention",
                                         "full_attention"],
                            rope_parameters={
                                "sliding_attention": {"rope_type": "default",
                                                      "rope_theta": 700.0},
                                "full_attention": {"rope_type": "default",
                                                   "rope_theta": 9000.0}}),
         old={"global_attn_every_n_layers": 2, "global_rope_theta": 9000.0,
              "local_rope_theta": 700.0, "layer_norm_eps": 1e-5, "causal_mask": True,
              "position_embedding_type": "sans_pos", "reference_compile": False},
         absent=["rope_parameters", "layer_types"]),
]
