"""The tiny encoder-only checkpoints under families/, as tables.

Each is named after what it shows that the others of its family do not: how
sentence-transformers pools the bare model, or which head there is. "4x"
fixtures ("old") have a config.json and tensor names as 4.x wrote them, the
others as 5.x does.
"""

import torch


def labels(*names):
    return {"id2label": dict(enumerate(names)),
            "label2id": {name: i for i, name in enumerate(names)}}


THREE = labels("negative", "so so", "positive")
FOUR = labels("toxic", "insult", "threat", "spam")
ENTITIES = labels("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
ONE = {"num_labels": 1}

BERT_4 = {"gradient_checkpointing": False, "position_embedding_type": "absolute",
          "use_cache": True}
POOLER_4 = {"directionality": "bidi", "pooler_fc_size": 768,
            "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3,
            "pooler_size_per_head": 128, "pooler_type": "first_token_transform"}


def bert_like(hidden=21, heads=3, layers=2, width=26, positions=56, **more):
    return dict(vocab_size=61, hidden_size=hidden, num_attention_heads=heads,
                num_hidden_layers=layers, intermediate_size=width,
                max_position_embeddings=positions, **more)


def distil(hidden, heads, layers=2, width=26, **more):
    return dict(vocab_size=61, dim=hidden, n_heads=heads, n_layers=layers,
                hidden_dim=width, max_position_embeddings=56, **more)


def modern(hidden, heads, layers, width=18, **more):
    special = dict(pad_token_id=3, eos_token_id=2, bos_token_id=1,
                   cls_token_id=1, sep_token_id=2)
    return {**bert_like(hidden, heads, layers, width, 128, local_attention=8,
                        **special), **more}


def with_positions(state):
    """The buffer of positions that files before 4.31 hold."""
    name = next(n for n in state if n.endswith("embeddings.position_embeddings.weight"))
    ids = torch.arange(state[name].shape[0]).unsqueeze(0)
    return {**state, name.replace("position_embeddings.weight", "position_ids"): ids}


def bert_2018(state):
    """bert-base-uncased: gamma and beta, the pooler and the head that tells
    whether one sentence follows another stay although nothing reads them."""
    def rename(name):
        return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta")
    hidden = state["bert.embeddings.word_embeddings.weight"].shape[1]
    left = {"bert.pooler.dense.weight": torch.ones(hidden, hidden),
            "bert.pooler.dense.bias": torch.ones(hidden),
            "cls.seq_relationship.weight": torch.ones(2, hidden),
            "cls.seq_relationship.bias": torch.ones(2)}
    state = {rename(name): tensor for name, tensor in state.items()
             if not name.startswith("cls.predictions.decoder")}
    return {**with_positions(state), **left}


MEAN = dict(pooling="mean", normalize=True)


def t5_like(hidden, head, heads, layers=2, width=26, **more):
    return dict(vocab_size=61, d_model=hidden, d_kv=head, num_heads=heads,
                num_layers=layers, d_ff=width, relative_attention_num_buckets=8,
                relative_attention_max_distance=20, **more)


def with_decoder(state):
    """A whole model, whose encoder alone is used."""
    query = state["encoder.block.0.layer.0.SelfAttention.q.weight"]
    shared = state["shared.weight"]
    return {**state, "decoder.block.0.layer.1.EncDecAttention.q.weight": query,
            "decoder.final_layer_norm.weight": shared[0],
            "decoder.embed_tokens.weight": shared, "lm_head.weight": shared}


# Seeds of their own: those of other encoders follow from their places.
SEEDED_ENCODERS = [
    dict(name="bert-generation-mean", model="BertGenerationEncoder", seed=3810,
         config=bert_like(), sentence=MEAN),
    dict(name="t5-encoder-dense", model="T5EncoderModel", seed=3800,
         config=t5_like(22, 7, 3), sentence=dict(
             pooling="mean", dense=18, normalize=True)),
    dict(name="mt5-encoder-4x-whole", model="MT5EncoderModel", seed=3801,
         config=t5_like(21, 5, 3), sentence=dict(pooling="cls"),
         old={"output_past": True, "is_encoder_decoder": False,
              "tie_word_embeddings": False}, old_tensors=with_decoder,
         absent=["is_gated_act", "dense_act_fn"]),
    dict(name="umt5-encoder", model="UMT5EncoderModel", seed=3802,
         config=t5_like(21, 5, 3), sentence=MEAN),
]

ENCODERS = [
    dict(name="bert-mean-pooling", model="BertModel", config=bert_like(24, 3), sentence=MEAN),
    dict(name="bert-4x-labels", model="BertForSequenceClassification", config=bert_like(
        hidden_act="gelu_new", type_vocab_size=3, **THREE),
         old={**BERT_4, **POOLER_4}, old_tensors=with_positions),
    dict(name="bert-tokens", model="BertForTokenClassification",
         config=bert_like(hidden_act="relu", layer_norm_eps=1e-5, **ENTITIES)),
    dict(name="bert-mask", model="BertForMaskedLM", config=bert_like(),
         old=BERT_4, absent=["layer_norm_eps", "hidden_act", "type_vocab_size",
                             "pad_token_id"], old_tensors=bert_2018),
    dict(name="bert-reranker", model="BertForSequenceClassification",
         config=bert_like(20, 4, 1, 30, **ONE), old={
             **BERT_4, "sbert_ce_default_activation_function":
             "torch.nn.modules.linear.Identity"}, old_tensors=with_positions),
    dict(name="roberta-cls-pooling", model="RobertaModel", config=bert_like(
        24, 3, type_vocab_size=1), sentence=dict(pooling="cls")),
    dict(name="roberta-4x-multi-label", model="RobertaForSequenceClassification",
         config=bert_like(problem_type="multi_label_classification",
                          type_vocab_size=1, layer_norm_eps=1e-5, **FOUR),
         old=BERT_4, old_tensors=with_positions),
    dict(name="roberta-tokens", model="RobertaForTokenClassification",
         config=bert_like(type_vocab_size=1, **ENTITIES)),
    dict(name="roberta-mask", model="RobertaForMaskedLM", config=bert_like(
        type_vocab_size=1, layer_norm_eps=1e-5), old=BERT_4,
         old_tensors=with_positions),
    dict(name="xlm-roberta-dense", model="XLMRobertaModel", config=bert_like(
        24, 3, type_vocab_size=1),
         sentence=dict(pooling="mean", dense=20, normalize=True)),
    dict(name="xlm-roberta-4x-reranker", model="XLMRobertaForSequenceClassification",
         config=bert_like(type_vocab_size=1, layer_norm_eps=1e-5, **ONE),
         old={**BERT_4, "output_past": True}, old_tensors=with_positions),
    dict(name="xlm-roberta-tokens", model="XLMRobertaForTokenClassification",
         config=bert_like(type_vocab_size=1, **ENTITIES)),
    dict(name="xlm-roberta-mask", model="XLMRobertaForMaskedLM",
         config=bert_like(type_vocab_size=1)),
    dict(name="distilbert-max-pooling", model="DistilBertModel", config=distil(24, 3),
         sentence=dict(pooling="max")),
    dict(name="distilbert-4x-labels", model="DistilBertForSequenceClassification",
         config=distil(21, 3, **THREE), old={
             "tie_weights_": True, "finetuning_task": "sst-2",
             "output_past": True}),
    dict(name="distilbert-tokens", model="DistilBertForTokenClassification",
         config=distil(21, 3, activation="relu", **ENTITIES)),
    dict(name="distilbert-mask", model="DistilBertForMaskedLM",
         config=distil(21, 3), old={"tie_weights_": True}, absent=["activation"]),
    dict(name="mpnet-mean-pooling", model="MPNetModel", config=bert_like(
        24, 3), sentence=MEAN),
    dict(name="mpnet-4x-labels", model="MPNetForSequenceClassification", config=bert_like(
        layer_norm_eps=1e-5, **THREE),
         old={}, old_tensors=with_positions),
    dict(name="mpnet-tokens", model="MPNetForTokenClassification",
         config=bert_like(**ENTITIES)),
    dict(name="mpnet-mask", model="MPNetForMaskedLM", config=bert_like(
        20, 4, hidden_act="relu")),
    dict(name="electra-last-pooling", model="ElectraModel", config=bert_like(
        24, 3, embedding_size=18), sentence=dict(pooling="lasttoken")),
    dict(name="electra-4x-regression", model="ElectraForSequenceClassification",
         config=bert_like(embedding_size=14, problem_type="regression", **ONE),
         old={**BERT_4, "summary_activation": "gelu", "summary_last_dropout": 0.1,
              "summary_type": "first", "summary_use_proj": True},
         old_tensors=with_positions),
    dict(name="electra-tokens", model="ElectraForTokenClassification",
         config=bert_like(embedding_size=21, hidden_act="gelu_new", **ENTITIES)),
    dict(name="electra-mask", model="ElectraForMaskedLM", config=bert_like(
        embedding_size=17)),
    dict(name="modernbert-prompts", model="ModernBertModel", config=modern(
        24, 4, 4), sentence=dict(pooling="cls", prompts={
            "query": "search_query: ", "document": "search_document: "})),
    dict(name="modernbert-4x-labels", model="ModernBertForSequenceClassification",
         config=modern(20, 2, 4, norm_bias=True, attention_bias=True,
                       mlp_bias=True, classifier_bias=True, **THREE),
         old={"position_embedding_type": "absolute", "global_attn_every_n_layers": 2,
              "global_rope_theta": 80000.0, "local_rope_theta": 1000.0,
              "gradient_checkpointing": False, "reference_compile": None,
              "repad_logits_with_grad": False, "layer_norm_eps": 1e-5},
         absent=["layer_types", "rope_parameters"]),
    dict(name="modernbert-mean", model="ModernBertForSequenceClassification",
         config=modern(20, 2, 2, classifier_pooling="mean",
                       classifier_activation="silu", sentence_transformers={
                           "activation_fn": "torch.nn.modules.linear.Identity",
                           "version": "5.0.0"}, **ONE)),
    dict(name="modernbert-tokens", model="ModernBertForTokenClassification",
         config=modern(20, 2, 2, local_attention=5, **ENTITIES)),
    dict(name="modernbert-mask", model="ModernBertForMaskedLM", seed=3995,
         config=modern(18, 3, 3, hidden_activation="gelu", mlp_bias=True)),
    dict(name="nomic_bert-mean-pooling", model="NomicBertModel",
         config=bert_like(24, 3), sentence=MEAN),
    # Logits of spans, and of choices.
    dict(name="bert-spans", seed=3801, model="BertForQuestionAnswering",
         config=bert_like(18, 3, 1, 22)),
    dict(name="roberta-spans", seed=3802, model="RobertaForQuestionAnswering",
         config=bert_like(18, 3, 1, 22, type_vocab_size=1)),
    dict(name="xlm-roberta-spans", seed=3803, model="XLMRobertaForQuestionAnswering",
         config=bert_like(15, 3, 1, 22, type_vocab_size=1)),
    dict(name="distilbert-spans", seed=3804, model="DistilBertForQuestionAnswering",
         config=distil(18, 3, 1, 22)),
    dict(name="mpnet-spans", seed=3805, model="MPNetForQuestionAnswering",
         config=bert_like(18, 3, 1, 22)),
    dict(name="electra-spans", seed=3806, model="ElectraForQuestionAnswering",
         config=bert_like(18, 3, 1, 22, embedding_size=13)),
    dict(name="modernbert-spans", seed=3807, model="ModernBertForQuestionAnswering",
         config=modern(18, 3, 1)),
    dict(name="bert-choice", seed=3808, model="BertForMultipleChoice",
         config=bert_like(18, 3, 1, 22)),
    dict(name="roberta-choice", seed=3809, model="RobertaForMultipleChoice",
         config=bert_like(18, 3, 1, 22, type_vocab_size=1)),
    dict(name="xlm-roberta-choice", seed=3810, model="XLMRobertaForMultipleChoice",
         config=bert_like(15, 3, 1, 22, type_vocab_size=1)),
    dict(name="distilbert-choice", seed=3811, model="DistilBertForMultipleChoice",
         config=distil(18, 3, 1, 22)),
    dict(name="mpnet-choice", seed=3812, model="MPNetForMultipleChoice",
         config=bert_like(18, 3, 1, 22)),
    dict(name="modernbert-choice", seed=3813, model="ModernBertForMultipleChoice",
         config=modern(18, 3, 1, classifier_pooling="mean")),
    dict(name="bert-next", seed=3816, model="BertForNextSentencePrediction",
         config=bert_like(18, 3, 1, 22)),
    # Natural language inference, for zero-shot classification.
    dict(name="bart-inference", seed=3817, model="BartForSequenceClassification",
         config=dict(vocab_size=67, d_model=18, encoder_layers=1, decoder_layers=2,
                     encoder_attention_heads=3, decoder_attention_heads=2,
                     encoder_ffn_dim=22, decoder_ffn_dim=26,
                     max_position_embeddings=56, pad_token_id=0, bos_token_id=2,
                     eos_token_id=3, decoder_start_token_id=3,
                     forced_eos_token_id=3, **labels(
                         "contradiction", "neutral", "entailment"))),
    dict(name="bert-inference", seed=3814, model="BertForSequenceClassification",
         config=bert_like(18, 3, 1, 22, **labels(
             "entailment", "neutral", "contradiction"))),
    dict(name="roberta-4x-inference", seed=3815, model="RobertaForSequenceClassification",
         config=bert_like(18, 3, 1, 22, type_vocab_size=1, **labels(
             "CONTRADICTION", "NEUTRAL", "ENTAILMENT")),
         old=BERT_4, old_tensors=with_positions),
]
