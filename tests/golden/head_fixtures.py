"""Tiny checkpoints of heads on encoders, and on the decoders of encoder-decoders,
as tables like those of encoder_fixtures.py."""

from encoder_fixtures import ENTITIES, ONE, THREE, bert_like
from encoder_relatives import DEBERTA_3, deberta
from seq2seq_fixtures import bart_like, gemma_like, t5_like


def t5(*sizes, **more):
    return t5_like(*sizes, decoder_start_token_id=0, **more)


def small(**more):
    return bert_like(18, 3, 1, 22, **more)


def t5gemma(layers, hidden=18, decoder_layers=2, **more):
    """`layers` and `hidden` are of the encoder; the decoder has 18 numbers."""
    return dict(vocab_size=67, encoder=gemma_like(hidden, (3, 1, 6), layers, 26),
                decoder=gemma_like(18, (2, 1, 10), decoder_layers, 22), **more)


REMBERT = dict(input_embedding_size=14, output_embedding_size=25)

HEADS = [
    dict(name="t5-labels", model="T5ForSequenceClassification",
         config=t5(20, 7, 3, (1, 2), 26, **THREE)),
    dict(name="t5-v1_1-reranker", model="T5ForSequenceClassification",
         config=t5(18, 5, 2, (1, 1), 22, feed_forward_proj="gated-gelu",
                   tie_word_embeddings=False, **ONE)),
    dict(name="t5-tokens", model="T5ForTokenClassification",
         config=t5(20, 6, 3, (2, 1), 26, **ENTITIES)),
    dict(name="t5-spans", model="T5ForQuestionAnswering",
         config=t5(20, 6, 3, (1, 2), 26)),
    dict(name="mt5-labels", model="MT5ForSequenceClassification",
         config=t5(18, 7, 2, (1, 1), 22, **THREE)),
    dict(name="mt5-tokens", model="MT5ForTokenClassification",
         config=t5(18, 7, 2, (1, 1), 22, **ENTITIES)),
    dict(name="mt5-spans", model="MT5ForQuestionAnswering",
         config=t5(18, 7, 2, (1, 1), 22)),
    dict(name="umt5-labels", model="UMT5ForSequenceClassification",
         config=t5(18, 5, 2, (1, 2), 22, **THREE)),
    dict(name="umt5-tokens", model="UMT5ForTokenClassification",
         config=t5(18, 5, 2, (2, 1), 22, **ENTITIES)),
    dict(name="umt5-spans", seed=8993, model="UMT5ForQuestionAnswering",
         config=t5(18, 5, 2, (1, 2), 22)),
    dict(name="bart-spans", model="BartForQuestionAnswering",
         config=bart_like(18, (1, 2), (3, 2), (22, 26))),
    dict(name="electra-choice", model="ElectraForMultipleChoice",
         config=small(embedding_size=13)),
    dict(name="deberta-v2-choice", model="DebertaV2ForMultipleChoice",
         config=deberta(20, 2, **DEBERTA_3)),
    dict(name="deberta-spans", model="DebertaForQuestionAnswering",
         config=deberta(18, 3)),
    dict(name="roformer-spans", model="RoFormerForQuestionAnswering",
         config=bert_like(24, 3, 1, 22)),
] + [
    dict(name=f"{name}-{kind}", model=f"{model}For{head}", config=small(**more))
    for kind, head in (("choice", "MultipleChoice"), ("spans", "QuestionAnswering"))
    for name, model, more in (
        ("albert", "Albert", dict(embedding_size=14)),
        ("camembert", "Camembert", dict(type_vocab_size=1)),
        ("data2vec-text", "Data2VecText", dict(type_vocab_size=1)),
        ("ernie", "Ernie", {}), ("megatron-bert", "MegatronBert", {}),
        ("rembert", "RemBert", REMBERT),
        ("roberta-prelayernorm", "RobertaPreLayerNorm", dict(type_vocab_size=1)),
        ("xlm-roberta-xl", "XLMRobertaXL", {}))
] + [
    dict(name="mbart-labels", model="MBartForSequenceClassification",
         config=bart_like(18, (1, 2), (3, 2), (22, 26), scale_embedding=True, **THREE)),
    dict(name="mbart-spans", model="MBartForQuestionAnswering",
         config=bart_like(18, (2, 1), (2, 3), (22, 26))),
    dict(name="plbart-labels", model="PLBartForSequenceClassification",
         config=bart_like(21, (1, 1), (3, 1), (30, 26), tie_word_embeddings=False, **THREE)),
    dict(name="t5gemma-labels", model="T5GemmaForSequenceClassification",
         config=t5gemma(2, bos_token_id=4, **THREE)),
    dict(name="t5gemma-tokens", model="T5GemmaForTokenClassification", seed=8973,
         config=t5gemma(1, decoder_layers=1, **ENTITIES)),
    dict(name="t5gemma-encoder-labels", model="T5GemmaForSequenceClassification",
         config=t5gemma(2, hidden=21, is_encoder_decoder=False, **ONE)),
    dict(name="t5gemma-encoder-tokens", model="T5GemmaForTokenClassification", seed=8971,
         config=t5gemma(2, is_encoder_decoder=False, **ENTITIES)),
    dict(name="nomic_bert-labels", model="NomicBertForSequenceClassification",
         config=bert_like(24, 3, 2, 26, **THREE)),
    dict(name="nomic_bert-tokens", model="NomicBertForTokenClassification",
         config=bert_like(18, 3, 1, 22, **ENTITIES)),
    dict(name="nomic_bert-mask", model="NomicBertForMaskedLM",
         config=bert_like(18, 3, 1, 22, hidden_act="gelu")),
    dict(name="roformer-choice", model="RoFormerForMultipleChoice",
         config=bert_like(24, 3, 1, 22)),
    dict(name="roformer-mean-choice", model="RoFormerForMultipleChoice",
         config=bert_like(24, 3, 1, 22, summary_type="mean", summary_use_proj=True,
                          summary_activation="tanh")),
]
