"""The tiny checkpoints of decoders alone under families/, as tables.

Of each family "-a" is as 5.x saves it, with short prompts; "-b" has a
config.json as 4.x wrote it ("old" holds what only 4.x has), prompts over several
blocks of the cache and over the window, and odd sizes.
"""


def llama_like(hidden, layers, heads, kv_heads, width, **more):
    """Sizes in Llama's words."""
    return dict(hidden_size=hidden, num_hidden_layers=layers,
                num_attention_heads=heads, num_key_value_heads=kv_heads,
                intermediate_size=width,
                **{"max_position_embeddings": 96, **more})


LLAMA_3 = {"rope_type": "llama3", "rope_theta": 5000.0, "factor": 8.0,
           "low_freq_factor": 1.0, "high_freq_factor": 4.0,
           "original_max_position_embeddings": 32}

DECODERS = [
    dict(name="gpt2-a", model="GPT2", weights=18,
         config=dict(n_embd=24, n_layer=2, n_head=3, n_positions=64)),
    dict(name="gpt2-b", model="GPT2", weights=24, long=True,
         config=dict(n_embd=28, n_layer=1, n_head=2, n_positions=96, n_inner=50,
                     activation_function="relu"),
         old={"n_ctx": 96, "summary_type": "cls_index", "task_specific_params":
              {"text-generation": {"do_sample": True, "max_length": 50}}}),
    dict(name="llama-a", model="Llama", weights=15,
         config=llama_like(24, 2, 4, 2, 36, head_dim=10, rope_parameters=LLAMA_3)),
    dict(name="llama-b", model="Llama", weights=13, long=True, untied=True,
         config=llama_like(30, 2, 5, 5, 38, attention_bias=True, mlp_bias=True,
                           rope_parameters={"rope_type": "linear", "factor": 2.5,
                                            "rope_theta": 300.0}),
         old={"rope_theta": 300.0, "rope_scaling": {"type": "linear", "factor": 2.5},
              "pretraining_tp": 1},
         absent=["rope_parameters", "head_dim"]),
    dict(name="mistral-a", model="Mistral", weights=15, untied=True,
         config=llama_like(24, 2, 4, 1, 36, head_dim=8, sliding_window=None)),
    dict(name="mistral-b", model="Mistral", weights=14, long=True, untied=True,
         config=llama_like(28, 2, 2, 2, 30, sliding_window=19),
         old={"rope_theta": 10000.0},
         absent=["rope_parameters", "head_dim", "layer_types"]),
    dict(name="qwen2-a", model="Qwen2", weights=14,
         config=llama_like(24, 3, 4, 2, 36, use_sliding_window=True,
                           sliding_window=7, max_window_layers=1)),
    dict(name="qwen2-b", model="Qwen2", weights=8, long=True, untied=True,
         config=llama_like(28, 2, 2, 1, 34, rope_parameters={
             "rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0,
             "original_max_position_embeddings": 24}),
         old={"rope_theta": 1000.0, "use_sliding_window": False,
              "rope_scaling": {"type": "yarn", "factor": 4.0,
                               "original_max_position_embeddings": 24}},
         absent=["rope_parameters", "layer_types"]),
]
