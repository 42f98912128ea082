"""The tiny checkpoints of encoders that are relatives of BERT and RoBERTa, as
tables like those of encoder_fixtures.py."""

import torch

from encoder_fixtures import (BERT_4, ENTITIES, FOUR, MEAN, ONE, THREE,
                              bert_like, with_positions)
from hub_encoders import ntk, spell_jina_code, spell_neobert, spell_new
from hub_experts import nomic_experts, spell_nomic


def deberta(hidden=21, heads=3, **more):
    return {**bert_like(hidden, heads, relative_attention=True,
                        pos_att_type="p2c|c2p"), **more}


# As in microsoft/deberta-v3-base.
DEBERTA_3 = dict(norm_rel_ebd="layer_norm", share_att_key=True, position_buckets=8,
                 max_relative_positions=-1, position_biased_input=False)

# Three of the tasks of jinaai/jina-embeddings-v3.
TASKS = dict(rank=3, alpha=2, tasks={
    "retrieval.query": "Represent the query for retrieving evidence documents: ",
    "retrieval.passage": "Represent the document for retrieval: ",
    "separation": ""})


def eurobert(*sizes, **more):
    return bert_like(*sizes, pad_token_id=3, bos_token_id=1, eos_token_id=2,
                     mask_token_id=4, **more)


def esm(*sizes, **more):
    return bert_like(*sizes, pad_token_id=1, eos_token_id=2,
                     **{"mask_token_id": 32, "position_embedding_type": "rotary",
                        "token_dropout": True, **more})


def esm_4(state):
    """Before 5.x each layer has the frequencies; positions stay unread."""
    frequencies = state["esm.rotary_embeddings.inv_freq"].half().float()
    hidden = state["esm.embeddings.word_embeddings.weight"].shape[1]
    layers = {f"esm.encoder.layer.{i}.attention.self.rotary_embeddings.inv_freq":
              frequencies for i in range(2)}
    left = {"esm.embeddings.position_embeddings.weight": torch.ones(56, hidden)}
    return {**{name: tensor for name, tensor in state.items()
               if name != "esm.rotary_embeddings.inv_freq"}, **layers, **left}


def neobert(*sizes):
    return bert_like(*sizes, hidden_act="SwiGLU", norm_eps=1e-5, ngpt=False,
                     rms_norm=True, rope=True, pad_token_id=0)


ENCODER_RELATIVES = [
    dict(name="deberta-v2-mean-pooling", model="DebertaV2Model",
         config=deberta(24, 3, **DEBERTA_3), sentence=MEAN),
    dict(name="deberta-v2-4x-labels", model="DebertaV2ForSequenceClassification",
         config=deberta(max_relative_positions=12, pos_att_type=["c2p"],
                        type_vocab_size=3, pooler_hidden_act="tanh", **THREE),
         old={**BERT_4, "pooler_hidden_size": 21}, old_tensors=with_positions),
    dict(name="deberta-v2-reranker", model="DebertaV2ForSequenceClassification",
         config=deberta(20, 2, **{**DEBERTA_3, "position_buckets": 13}, **ONE)),
    dict(name="deberta-v2-tokens", model="DebertaV2ForTokenClassification",
         config=deberta(pos_att_type="p2c", position_buckets=7,
                        max_relative_positions=19, **ENTITIES)),
    dict(name="deberta-v2-mask", model="DebertaV2ForMaskedLM",
         config=deberta(embedding_size=17, **DEBERTA_3)),
    dict(name="deberta-v2-new-mask", model="DebertaV2ForMaskedLM",
         config=deberta(20, 2, legacy=False, relative_attention=False,
                        hidden_act="gelu_new", layer_norm_eps=1e-5)),
    dict(name="camembert-4x-labels", model="CamembertForSequenceClassification",
         config=bert_like(type_vocab_size=1, layer_norm_eps=1e-5, **THREE),
         old=BERT_4, old_tensors=with_positions),
    dict(name="data2vec-text-mask", model="Data2VecTextForMaskedLM",
         config=bert_like(type_vocab_size=1)),
    dict(name="roberta-prelayernorm-mean-pooling", model="RobertaPreLayerNormModel",
         config=bert_like(24, 3, type_vocab_size=1), sentence=MEAN),
    dict(name="roberta-prelayernorm-multi-label", seed=3911,
         model="RobertaPreLayerNormForSequenceClassification",
         config=bert_like(problem_type="multi_label_classification", **FOUR)),
    dict(name="xlm-roberta-xl-tokens", model="XLMRobertaXLForTokenClassification",
         seed=3912, config=bert_like(**ENTITIES)),
    dict(name="xlm-roberta-xl-mask", model="XLMRobertaXLForMaskedLM",
         config=bert_like(20, 4, 1)),
    dict(name="megatron-bert-cls-pooling", model="MegatronBertModel",
         config=bert_like(24, 3), sentence=dict(pooling="cls")),
    dict(name="megatron-bert-labels", model="MegatronBertForSequenceClassification",
         config=bert_like(hidden_act="gelu_new", **THREE)),
    dict(name="rembert-4x-labels", model="RemBertForSequenceClassification",
         config=bert_like(input_embedding_size=14, output_embedding_size=33,
                          **THREE), old=BERT_4, old_tensors=with_positions),
    dict(name="rembert-mask", model="RemBertForMaskedLM",
         config=bert_like(20, 4, input_embedding_size=15,
                          output_embedding_size=33, tie_word_embeddings=False)),
    dict(name="albert-mean-pooling", model="AlbertModel",
         config=bert_like(24, 3, 5, embedding_size=17, num_hidden_groups=2),
         sentence=MEAN),
    dict(name="albert-4x-labels", model="AlbertForSequenceClassification",
         config=bert_like(embedding_size=14, inner_group_num=2, hidden_act="gelu",
                          **THREE),
         old={**BERT_4, "down_scale_factor": 1, "gap_size": 0, "net_structure_type": 0,
              "num_memory_blocks": 0}, old_tensors=with_positions),
    dict(name="albert-mask", model="AlbertForMaskedLM",
         config=bert_like(embedding_size=15)),
    dict(name="gte-labels", model="GteForSequenceClassification",
         config=bert_like(24, 3, **THREE)),
    dict(name="gte-mask", model="GteForMaskedLM", config=bert_like(
        20, 2, 1, type_vocab_size=0, layer_norm_eps=1e-5)),
    dict(name="new-ntk-mean-pooling", model="GteModel", change=ntk(8.0),
         config=bert_like(24, 3, rope_parameters={"rope_type": "default",
                                                  "rope_theta": 500.0}),
         sentence=MEAN, respell=spell_new(
             {"rope_scaling": {"type": "ntk", "factor": 8.0}})),
    dict(name="new-tokens", model="GteForTokenClassification",
         config=bert_like(20, 2, **ENTITIES), respell=spell_new({})),
    dict(name="jina-bert-mean-pooling", model="JinaBertModel",
         config=bert_like(24, 3, position_embedding_type="alibi",
                          feed_forward_type="geglu"), sentence=MEAN),
    dict(name="jina-bert-reranker", model="JinaBertForSequenceClassification",
         config=bert_like(21, 7, position_embedding_type="alibi",
                          feed_forward_type="reglu", **ONE)),
    dict(name="jina-v3-mean-pooling", model="JinaEmbeddingsV3Model",
         config=bert_like(24, 3), sentence=MEAN),
    dict(name="jina-v3-labels", model="JinaEmbeddingsV3ForSequenceClassification",
         config=bert_like(20, 2, type_vocab_size=2, **THREE)),
    dict(name="jina-v3-mask", model="JinaEmbeddingsV3ForMaskedLM",
         config=bert_like(20, 2, 1)),
    dict(name="roformer-mean-pooling", model="RoFormerModel",
         config=bert_like(24, 3, embedding_size=17), sentence=MEAN),
    dict(name="roformer-labels", model="RoFormerForSequenceClassification",
         config=bert_like(20, 2, hidden_act="gelu_new", **THREE)),
    dict(name="roformer-mask", model="RoFormerForMaskedLM",
         config=bert_like(18, 3, embedding_size=15)),
    dict(name="ernie-tasks-mean-pooling", model="ErnieModel",
         config=bert_like(24, 3, use_task_id=True), sentence=MEAN),
    dict(name="ernie-mask", model="ErnieForMaskedLM", config=bert_like()),
    dict(name="eurobert-mean-pooling", model="EuroBertModel",
         config=eurobert(24, 6, num_key_value_heads=2), sentence=MEAN),
    dict(name="eurobert-labels", model="EuroBertForSequenceClassification",
         config=eurobert(20, 2, classifier_pooling="mean", attention_bias=True,
                         **THREE)),
    dict(name="eurobert-tokens", model="EuroBertForTokenClassification",
         seed=3963, config=eurobert(20, 2, 1, **ENTITIES)),
    dict(name="eurobert-mask", model="EuroBertForMaskedLM",
         config=eurobert(20, 2, 1, mlp_bias=True)),
    dict(name="deberta-mean-pooling", model="DebertaModel",
         config=deberta(24, 3, max_relative_positions=-1,
                        position_biased_input=False), sentence=MEAN),
    dict(name="deberta-4x-labels", model="DebertaForSequenceClassification",
         config=deberta(max_relative_positions=9, pos_att_type=["p2c"],
                        type_vocab_size=2, **THREE),
         old={**BERT_4, "pooler_hidden_size": 21}, old_tensors=with_positions),
    dict(name="deberta-mask", model="DebertaForMaskedLM", config=deberta()),
    dict(name="neobert-mean-pooling", model="NeoBERTModel", respell=spell_neobert,
         config=neobert(24, 3), sentence=MEAN),
    dict(name="neobert-mask", model="NeoBERTForMaskedLM", respell=spell_neobert,
         config=neobert(20, 2, 1)),
    dict(name="deberta-v2-spans", seed=3818, model="DebertaV2ForQuestionAnswering",
         config=deberta(20, 2, **DEBERTA_3)),
    dict(name="jina-v3-adapters", model="JinaEmbeddingsV3Model", adapters=TASKS,
         config=bert_like(18, 3, width=25, rope_parameters={
             "rope_type": "default", "rope_theta": 20000.0}),
         sentence=dict(**MEAN, prompts=TASKS["tasks"])),
    dict(name="esm-mean-pooling", seed=3930, model="EsmModel", config=esm(24, 3), sentence=MEAN),
    dict(name="esm-4x-mask", seed=3940, model="EsmForMaskedLM", config=esm(20, 2),
         old={**BERT_4, "position_embedding_type": "rotary", "hidden_act": "relu",
              "esmfold_config": None, "is_folding_model": False, "vocab_list": None,
              "classifier_dropout": None, "emb_layer_norm_before": False},
         old_tensors=esm_4),
    dict(name="esm-absolute-labels", seed=3950, model="EsmForSequenceClassification",
         config=esm(21, 3, position_embedding_type="absolute", token_dropout=False,
                    emb_layer_norm_before=True, layer_norm_eps=1e-5, **THREE)),
    dict(name="esm-tokens", seed=3960, model="EsmForTokenClassification",
         config=esm(20, 2, 1, position_embedding_type="absolute",
                    emb_layer_norm_before=True, **ENTITIES)),
    dict(name="roformer-rotary-value", seed=3970, model="RoFormerForTokenClassification",
         config=bert_like(20, 2, rotary_value=True, **ENTITIES)),
    dict(name="eurobert-late-labels", seed=3980, model="EuroBertForSequenceClassification",
         config=eurobert(20, 2, classifier_pooling="late", **THREE)),
    dict(name="eurobert-bos-reranker", seed=3990, model="EuroBertForSequenceClassification",
         config=eurobert(20, 2, 1, classifier_pooling="bos", **ONE)),
    dict(name="deberta-v2-convolution", seed=3861, model="DebertaV2Model",
         config=deberta(24, 3, conv_kernel_size=3, conv_act="gelu",
                        attention_head_size=8, **DEBERTA_3), sentence=MEAN),
    dict(name="deberta-v2-grouped-convolution", seed=3862, model="DebertaV2ForTokenClassification",
         config=deberta(20, 2, conv_kernel_size=5, conv_groups=2, type_vocab_size=2,
                        pos_att_type="c2p", **ENTITIES)),
    dict(name="nomic_bert-experts", model="NomicExpertsModel", seed=3819,
         config=nomic_experts(), sentence=MEAN, respell=spell_nomic),
    dict(name="jina-bert-code", model="JinaCodeModel", seed=3820,
         config=bert_like(24, 3, position_embedding_type="alibi",
                          feed_forward_type="geglu"), sentence=MEAN,
         respell=spell_jina_code),
]
