"""The tiny encoder-decoder checkpoints under families/, as tables.

Each is named after what it shows that the others of its family do not. "long"
fixtures have sources and results over several blocks of the cache, with stacks
of different shapes and odd head sizes; the others have short sources. "4x"
fixtures ("old") have a config.json as 4.x wrote it: "old" holds what only 4.x
has, and the defaults of generate() that stood there then. They hold tied tensors
several times, unless "shared_once" says otherwise; the others are as 5.x saves
them.
"weights" are seeds whose results have many different tokens and several lengths.
"""

SUMMARIES = {"summarization": {
    "early_stopping": True, "length_penalty": 2.0, "max_length": 200,
    "min_length": 30, "no_repeat_ngram_size": 3, "num_beams": 4,
    "prefix": "summarize: "}}

BART_4 = {"add_bias_logits": False, "add_final_layer_norm": False,
          "classif_dropout": 0.1, "extra_pos_embeddings": 2,
          "gradient_checkpointing": False, "normalize_before": False,
          "normalize_embedding": True, "static_position_embeddings": False,
          "output_past": True, "prefix": " ",
          "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
          "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
          "task_specific_params": SUMMARIES}

MBART_4 = {**BART_4, "add_final_layer_norm": True, "normalize_before": True,
           "task_specific_params": {"translation_en_to_ro": {
               "decoder_start_token_id": 250020}}}


def bart_like(hidden, layers, heads, widths, **more):
    """Sizes in BART's words; pairs are (encoder, decoder)."""
    return dict(d_model=hidden, encoder_layers=layers[0],
                decoder_layers=layers[1], encoder_attention_heads=heads[0],
                decoder_attention_heads=heads[1], encoder_ffn_dim=widths[0],
                decoder_ffn_dim=widths[1], max_position_embeddings=64,
                vocab_size=67, **more)


def fsmt_like(hidden, layers, heads, widths, vocabularies, **more):
    sizes = bart_like(hidden, layers, heads, widths, **more)
    del sizes["vocab_size"]
    return dict(sizes, src_vocab_size=vocabularies[0],
                tgt_vocab_size=vocabularies[1])


def t5_like(hidden, head, heads, layers, width, **more):
    return dict(d_model=hidden, d_kv=head, num_heads=heads, num_layers=layers[0],
                num_decoder_layers=layers[1], d_ff=width, vocab_size=67, **more)


def gemma_like(hidden, heads, layers, width, **more):
    """Sizes of a stack of T5Gemma; `heads` are (heads, key-value heads, size)."""
    return dict(vocab_size=67, hidden_size=hidden, num_attention_heads=heads[0],
                num_key_value_heads=heads[1], head_dim=heads[2],
                num_hidden_layers=layers, intermediate_size=width,
                max_position_embeddings=96, sliding_window=7,
                query_pre_attn_scalar=9, attn_logit_softcapping=4.0,
                final_logit_softcapping=5.0, **more)


def bert_like(kind, hidden, heads, layers, width, **more):
    """A stack of an EncoderDecoderModel."""
    return dict(model_type=kind, vocab_size=67, hidden_size=hidden,
                num_attention_heads=heads, num_hidden_layers=layers,
                intermediate_size=width, max_position_embeddings=64, **more)


DECODES = dict(is_decoder=True, add_cross_attention=True)

SEQ2SEQ = [
    dict(name="bart-gelu", model="Bart", seed=2000, weights=2001,
         config=bart_like(24, (2, 1), (2, 3), (36, 52), scale_embedding=False,
                          activation_function="gelu")),
    dict(name="bart-4x-scaled-long", model="Bart", seed=2010, weights=2039, long=True,
         config=bart_like(27, (1, 2), (3, 1), (40, 58), scale_embedding=True,
                          activation_function="relu", forced_bos_token_id=0),
         old={**BART_4, "num_beams": 4, "no_repeat_ngram_size": 3,
              "early_stopping": True, "forced_bos_token_id": 0,
              "decoder_start_token_id": 2, "forced_eos_token_id": 2}),
    dict(name="bart-base-model", model="Bart", seed=2020, weights=2052, base_model=True,
         config=bart_like(22, (1, 1), (2, 1), (30, 48),
                          activation_function="gelu_new")),
    dict(name="mbart-4x-scaled", model="MBart", seed=2100, weights=2113,
         config=bart_like(24, (1, 2), (2, 3), (36, 52), scale_embedding=True),
         old={**MBART_4, "num_beams": 5}, shared_once=True),
    dict(name="mbart-relu-long", model="MBart", seed=2110, weights=2115, long=True,
         config=bart_like(27, (2, 1), (1, 3), (32, 58), scale_embedding=False,
                          activation_function="relu", decoder_start_token_id=2),
         generation=dict(forced_bos_token_id=61)),
    dict(name="m2m_100-gelu", model="M2M100", seed=2200, weights=2207, forced_bos=62,
         config=bart_like(24, (1, 2), (3, 2), (36, 50), scale_embedding=False,
                          activation_function="gelu")),
    dict(name="m2m_100-4x-scaled-long", model="M2M100", seed=2210, weights=2228, long=True,
         forced_bos=63,
         config=bart_like(30, (2, 1), (2, 6), (28, 62), scale_embedding=True,
                          activation_function="relu"),
         old={"decoder_start_token_id": 2, "num_hidden_layers": 2,
              "max_length": 200}, shared_once=True),
    dict(name="pegasus-gelu", model="Pegasus", seed=2300, weights=2325,
         config=bart_like(24, (2, 1), (3, 2), (30, 50), scale_embedding=False,
                          activation_function="gelu")),
    dict(name="pegasus-4x-scaled-long", model="Pegasus", seed=2310, weights=2319, long=True,
         config=bart_like(28, (1, 2), (4, 2), (30, 58), scale_embedding=True,
                          activation_function="relu"),
         old={**BART_4, "add_final_layer_norm": True, "normalize_before": True,
              "normalize_embedding": False, "static_position_embeddings": True,
              "extra_pos_embeddings": 1, "num_beams": 8, "length_penalty": 0.8,
              "forced_eos_token_id": 1}, shared_once=True),
    dict(name="t5-few-buckets", model="T5", seed=2400, weights=2422,
         config=t5_like(24, 7, 3, (2, 1), 50, relative_attention_num_buckets=8,
                        relative_attention_max_distance=12)),
    dict(name="t5-4x-long", model="T5", seed=2410, weights=2431, long=True,
         config=t5_like(26, 5, 4, (2, 1), 54),
         old={"decoder_start_token_id": 0, "n_positions": 512,
              "output_past": True, "task_specific_params": SUMMARIES},
         absent=["feed_forward_proj", "relative_attention_max_distance",
                 "is_gated_act", "dense_act_fn", "scale_decoder_outputs",
                 "tie_word_embeddings"]),
    dict(name="t5-v1_1-4x", model="T5", seed=2500, weights=2500, untied=True,
         config=t5_like(24, 7, 3, (1, 1), 34, feed_forward_proj="gated-gelu",
                        tie_word_embeddings=False),
         old={"decoder_start_token_id": 0, "output_past": True, "n_positions": 512,
              "tie_word_embeddings": False},
         absent=["is_gated_act", "dense_act_fn", "scale_decoder_outputs"]),
    dict(name="t5-v1_1-long", model="T5", seed=2510, weights=2530, untied=True,
         long=True, config=t5_like(
             26, 9, 2, (2, 1), 38, feed_forward_proj="gated-gelu",
             tie_word_embeddings=False, relative_attention_num_buckets=12,
             relative_attention_max_distance=30)),
    dict(name="mt5-4x", model="MT5", seed=2600, weights=2619, untied=True,
         config=t5_like(24, 5, 3, (2, 1), 34), old={
             "decoder_start_token_id": 0, "output_past": True,
             "tie_word_embeddings": False, "tokenizer_class": "T5Tokenizer"},
         absent=["is_gated_act", "dense_act_fn"]),
    dict(name="umt5-4x-long", model="UMT5", seed=2620, weights=2626, untied=True,
         long=True, config=t5_like(
             26, 7, 3, (2, 2), 30, relative_attention_num_buckets=10,
             relative_attention_max_distance=24), old={
             "decoder_start_token_id": 0, "output_past": True,
             "tie_word_embeddings": False, "scalable_attention": True,
             "tokenizer_class": "T5Tokenizer"},
         absent=["is_gated_act", "dense_act_fn"]),
    dict(name="blenderbot-scaled", model="Blenderbot", seed=2700, weights=2701,
         config=bart_like(21, (1, 2), (3, 1), (30, 38), scale_embedding=True,
                          encoder_no_repeat_ngram_size=0)),
    dict(name="blenderbot-source-ngrams", model="Blenderbot", seed=2705, weights=2706,
         config=bart_like(21, (1, 1), (3, 1), (30, 38),
                          encoder_no_repeat_ngram_size=1)),
    dict(name="blenderbot-small-scaled", model="BlenderbotSmall", seed=2710, weights=2711,
         config=bart_like(21, (2, 1), (1, 3), (34, 30), scale_embedding=True)),
    dict(name="plbart-4x", model="PLBart", seed=2720, weights=2721,
         config=bart_like(21, (1, 1), (3, 1), (30, 26)),
         old={**BART_4, "add_final_layer_norm": False, "num_beams": 4},
         absent=["scale_embedding"], shared_once=True),
    dict(name="fsmt-two-vocabularies", model="FSMT", seed=2730, weights=2747,
         config=fsmt_like(22, (2, 1), (2, 1), (30, 38), (71, 67))),
    dict(name="t5gemma-windows-long", model="T5Gemma", seed=2740, weights=2752,
         long=True, config=dict(
             vocab_size=67, encoder=gemma_like(20, (4, 2, 6), 2, 26),
             decoder=gemma_like(20, (2, 1, 10), 3, 22))),
    dict(name="bert2bert", model="EncoderDecoder", seed=2750, weights=2770,
         config=dict(
             encoder=bert_like("bert", 21, 3, 2, 26),
             decoder=bert_like("bert", 21, 7, 2, 30, hidden_act="relu", **DECODES),
             decoder_start_token_id=1, eos_token_id=2, pad_token_id=0)),
    dict(name="bert-generation-pair", model="EncoderDecoder", seed=2770,
         weights=2781, config=dict(
             encoder=bert_like("bert-generation", 21, 3, 1, 26),
             decoder=bert_like("bert-generation", 21, 3, 2, 30, **DECODES),
             decoder_start_token_id=3, eos_token_id=2, pad_token_id=0),
         old={"model_type": "encoder_decoder"}),
    dict(name="roberta2roberta-4x-long", model="EncoderDecoder", seed=2760,
         weights=2761, long=True, config=dict(
             encoder=bert_like("roberta", 22, 2, 1, 26, pad_token_id=1),
             decoder=bert_like("roberta", 22, 1, 2, 30, pad_token_id=1, **DECODES),
             decoder_start_token_id=0, eos_token_id=2, pad_token_id=1),
         old={"num_beams": 4, "length_penalty": 2.0, "early_stopping": True,
              "no_repeat_ngram_size": 3, "tie_encoder_decoder": False}),
    dict(name="mt5-long", model="MT5", seed=2610, weights=2625, untied=True, long=True,
         config=t5_like(25, 9, 2, (2, 1), 32, relative_attention_num_buckets=10,
                        relative_attention_max_distance=24)),
]
