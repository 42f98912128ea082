import os

import grpc
from attend.v1 import attend_pb2 as pb
from attend.v1.attend_pb2_grpc import AttendStub

channel = grpc.insecure_channel(os.environ.get("ATTEND_ADDRESS", "localhost:50051"))
attend = AttendStub(channel)

# == ListModels
answer = attend.ListModels(pb.ListModelsRequest())
print("ListModels:", *(model.name for model in answer.models))

# == GetModel
model = attend.GetModel(pb.GetModelRequest(name="en-de"))
print(f"GetModel: {model.family}, {model.max_source_tokens} tokens")

# == Generate
answer = attend.Generate(pb.GenerateRequest(
    inputs=[pb.Input(text="How are you?"), pb.Input(text="I am reading a book.")],
    params=pb.GenerationParams(num_beams=4)))
for result in answer.results:
    print("Generate:", result.choices[0].text)

# == GenerateStream
print("GenerateStream: ", end="")
for chunk in attend.GenerateStream(pb.GenerateRequest(
        inputs=[pb.Input(text="How are you?")])):
    print(chunk.text, end="", flush=True)
print()

# == Translate
answer = attend.Translate(pb.TranslateRequest(
    documents=["<p>I am reading a <b>book</b>.</p>"],
    format=pb.DOCUMENT_FORMAT_HTML))
print("Translate:", answer.results[0].text)

# == TranslateStream
print("TranslateStream: ", end="")
for chunk in attend.TranslateStream(pb.TranslateRequest(
        documents=["How are you? I am reading a book."])):
    print(chunk.text, end="", flush=True)
print()

# == Score
answer = attend.Score(pb.ScoreRequest(pairs=[
    pb.ScorePair(source=pb.Input(text="How are you?"),
                 target=pb.Input(text=german))
    for german in ("Wie geht es dir?", "Es regnet.")]))
first, second = answer.results
print("Score: the first fits better:",
      str(first.log_prob > second.log_prob).lower())

# == Embed
answer = attend.Embed(pb.EmbedRequest(
    inputs=[pb.Input(text="A dog runs."), pb.Input(text="A dog is running.")],
    normalize=True))
a, b = (result.values for result in answer.results)
print(f"Embed: cosine {sum(x * y for x, y in zip(a, b)):.2f}")

# == Classify
answer = attend.Classify(pb.ClassifyRequest(
    model="labels", inputs=[pb.Input(text="I like it.")]))
best = answer.results[0].labels[0]
print(f"Classify: {best.label} {best.score:.2f}")

# == FillMask
answer = attend.FillMask(pb.FillMaskRequest(
    model="masks", inputs=[pb.Input(text="A dog [MASK].")]))
print("FillMask:", answer.results[0].masks[0].candidates[0].text)

# == Rerank
answer = attend.Rerank(pb.RerankRequest(
    model="ranker", query="Who plays?",
    documents=["Two dogs play.", "It rains.", "A man reads."]))
print("Rerank:", *(result.index for result in answer.results))

# == Tokenize
answer = attend.Tokenize(pb.TokenizeRequest(texts=["How are you?"]))
print("Tokenize:", *answer.results[0].pieces)

# == Detokenize
tokens = pb.Tokens(ids=answer.results[0].ids)
answer = attend.Detokenize(pb.DetokenizeRequest(sequences=[tokens]))
print("Detokenize:", answer.results[0].text)

# == Errors
try:
    # A key, if the server wants one: metadata=[("authorization", f"Bearer {key}")]
    attend.Generate(pb.GenerateRequest(
        model="none", inputs=[pb.Input(text="How are you?")]), timeout=5)
except grpc.RpcError as error:
    print(f"Errors: {error.code().name.lower()}: {error.details()}")
