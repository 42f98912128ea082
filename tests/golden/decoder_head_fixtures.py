"""The tiny checkpoints of decoders that do not generate, as tables: they embed
or label what they read. "bare" ones have no files of sentence-transformers.
"4x" fixtures ("old") have a config.json as 4.x wrote it."""

from decoder_fixtures import gemma_like, llama_like, modern_like, neox_like
from encoder_fixtures import ENTITIES, MEAN, ONE, THREE


def read(sizes, **more):
    """`pad_token_id` is a token that texts may have."""
    return dict(vocab_size=61, bos_token_id=0, pad_token_id=1, eos_token_id=2,
                **{**sizes, **more})


def opt_like(hidden, layers, heads, width, **more):
    return dict(hidden_size=hidden, num_hidden_layers=layers, ffn_dim=width,
                num_attention_heads=heads, max_position_embeddings=96, **more)


def gemma3(hidden, layers, heads, kv_heads, width, **more):
    return read(gemma_like(hidden, layers, heads, kv_heads, width, head_dim=10),
                sliding_window_pattern=2, **more)


LAST = dict(pooling="lasttoken", normalize=True)
TASK = "Instruct: Given a web search query\nQuery:"
MATRYOSHKA = dict(**LAST, prompts={"query": TASK, "document": ""})

DECODER_HEADS = [
    dict(name="qwen3-embedding", model="Qwen3Model", sentence=MATRYOSHKA,
         config=read(llama_like(26, 2, 4, 2, 34, head_dim=10))),
    dict(name="mistral-4x-mean-pooling", model="MistralModel", sentence=MEAN,
         config=read(llama_like(28, 1, 2, 1, 38, sliding_window=19)),
         old={"rope_theta": 10000.0},
         absent=["rope_parameters", "head_dim", "layer_types"]),
    dict(name="qwen2-both-ways", model="Qwen2Model", sentence=LAST,
         config=read(llama_like(24, 2, 4, 2, 38), is_causal=False)),
    dict(name="mistral-both-ways-window", model="MistralModel", sentence=MEAN,
         config=read(llama_like(28, 2, 2, 1, 30, sliding_window=5),
                     is_causal=False)),
    dict(name="gemma3-embedding", model="Gemma3TextModel", config=gemma3(
        20, 2, 2, 1, 30, sliding_window=9, use_bidirectional_attention=True),
         sentence=dict(pooling="mean", dense=18, normalize=True)),
    dict(name="llama-labels", model="LlamaForSequenceClassification",
         config=read(llama_like(24, 2, 4, 2, 34), **THREE)),
    dict(name="qwen2-4x-reward", model="Qwen2ForSequenceClassification",
         config=read(llama_like(24, 2, 4, 2, 30), **ONE, problem_type="regression"),
         old={"rope_theta": 10000.0}, absent=["rope_parameters", "layer_types"]),
    dict(name="qwen3-labels", model="Qwen3ForSequenceClassification",
         config=read(llama_like(22, 1, 2, 1, 30, head_dim=12), **ONE)),
    dict(name="qwen3-logit-score", model="Qwen3ForCausalLM",
         config=read(llama_like(22, 1, 2, 1, 30, head_dim=12),
                     tie_word_embeddings=True),
         logit_score=dict(true_token_id=17, false_token_id=41)),
    dict(name="gemma-logit-score", model="GemmaForCausalLM",
         config=read(llama_like(20, 1, 2, 1, 26, head_dim=10)),
         logit_score=dict(true_token_id=5, false_token_id=None)),
    dict(name="mistral-labels", model="MistralForSequenceClassification",
         config=read(llama_like(20, 1, 2, 1, 26, sliding_window=7), **THREE)),
    dict(name="gemma-labels", model="GemmaForSequenceClassification",
         config=read(llama_like(20, 1, 2, 1, 26, head_dim=10), **THREE)),
    dict(name="gemma2-labels", model="Gemma2ForSequenceClassification",
         config=read(gemma_like(20, 2, 2, 1, 26, head_dim=10, sliding_window=9),
                     **THREE)),
    dict(name="gemma3-labels", model="Gemma3TextForSequenceClassification",
         config=gemma3(20, 2, 2, 1, 26, sliding_window=9, **THREE)),
    dict(name="phi3-labels", model="Phi3ForSequenceClassification",
         config=read(llama_like(20, 1, 2, 1, 26), **THREE)),
    dict(name="gpt2-labels", model="GPT2ForSequenceClassification",
         config=read(dict(n_embd=20, n_layer=2, n_head=2, n_positions=64), **THREE)),
    dict(name="gpt2-tokens", model="GPT2ForTokenClassification",
         config=read(dict(n_embd=21, n_layer=1, n_head=3, n_positions=64),
                     **ENTITIES)),
    dict(name="gpt2-bare", model="GPT2Model", sentence=dict(pooling="mean"), bare=True,
         config=read(dict(n_embd=22, n_layer=1, n_head=2, n_positions=64))),
    dict(name="gpt_neox-labels", model="GPTNeoXForSequenceClassification",
         config=read(neox_like(20, 2, 2, 30), **THREE)),
    dict(name="gpt_neox-tokens", model="GPTNeoXForTokenClassification",
         config=read(neox_like(24, 1, 3, 30), **ENTITIES)),
    dict(name="bloom-reward", model="BloomForSequenceClassification",
         config=read(dict(hidden_size=20, n_layer=2, n_head=2), **ONE,
                     problem_type="regression")),
    dict(name="bloom-tokens", model="BloomForTokenClassification",
         config=read(dict(hidden_size=21, n_layer=1, n_head=3), **ENTITIES)),
    dict(name="opt-labels", model="OPTForSequenceClassification",
         config=read(opt_like(24, 2, 3, 30), **THREE)),
    dict(name="opt-projected-labels", model="OPTForSequenceClassification",
         config=read(opt_like(22, 1, 2, 30, word_embed_proj_dim=14,
                              do_layer_norm_before=False), **ONE)),
    dict(name="mpt-labels", model="MptForSequenceClassification",
         config=read(dict(d_model=24, n_layers=2, n_heads=3, max_seq_len=64),
                     **THREE)),
    dict(name="mpt-tokens", model="MptForTokenClassification",
         config=read(dict(d_model=20, n_layers=1, n_heads=2, max_seq_len=64),
                     **ENTITIES)),
    dict(name="biogpt-tokens", model="BioGptForTokenClassification",
         config=read(llama_like(20, 1, 2, 2, 26), **ENTITIES)),
    dict(name="biogpt-labels", model="BioGptForSequenceClassification",
         config=read(llama_like(22, 1, 2, 2, 26), **THREE)),
    dict(name="llama-tokens", model="LlamaForTokenClassification",
         config=read(llama_like(24, 1, 4, 2, 34), **ENTITIES)),
    dict(name="qwen2-tokens", model="Qwen2ForTokenClassification",
         config=read(llama_like(20, 1, 2, 1, 30), **ENTITIES)),
    dict(name="gemma2-tokens", model="Gemma2ForTokenClassification",
         config=read(gemma_like(20, 2, 2, 1, 26, head_dim=10, sliding_window=9),
                     **ENTITIES)),
    dict(name="qwen3-bare", model="Qwen3Model", sentence=dict(pooling="mean"), bare=True,
         config=read(llama_like(22, 1, 2, 1, 30, head_dim=12))),
    dict(name="llama-4x-bare", model="LlamaModel", sentence=dict(pooling="mean"), bare=True,
         config=read(llama_like(24, 1, 2, 1, 30), tie_word_embeddings=True),
         old={"rope_theta": 10000.0}, absent=["rope_parameters", "head_dim"]),
    dict(name="modernbert-decoder-embedding", seed=8150, model="ModernBertDecoderModel",
         sentence=LAST, config=read(modern_like(24, 2, 3, 26, local_attention=14))),
    dict(name="modernbert-decoder-labels", seed=8160,
         model="ModernBertDecoderForSequenceClassification",
         config=read(modern_like(20, 2, 2, 22, local_attention=9, norm_bias=True,
                                 **THREE))),
    dict(name="modernbert-decoder-4x-reranker", seed=8170,
         model="ModernBertDecoderForSequenceClassification",
         config=read(modern_like(20, 1, 2, 22, classifier_bias=True, **ONE)),
         old={"global_attn_every_n_layers": 3, "global_rope_theta": 160000.0,
              "local_rope_theta": 160000.0}, absent=["rope_parameters", "layer_types"]),
]
