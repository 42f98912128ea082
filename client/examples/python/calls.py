import attend
from attend.v1 import attend_pb2 as pb

client = attend.Client()  # at $ATTEND_ADDRESS, or localhost:50051


def model_with(task):
    """The first model that has a task, or None."""
    for model in client.models():
        if task in model.tasks:
            return model
    print("skipped: no model here has", pb.Task.Name(task))
    return None



# == ListModels
print("ListModels:", *(model.name for model in client.models()))

# == GetModel
model = client.model("en-de")
print(f"GetModel: {model.family}, {model.max_source_tokens} tokens")

# == Generate
for result in client.generate(["How are you?", "I am reading a book."],
                              num_beams=4):
    print("Generate:", result.text)

# == GenerateStream
print("GenerateStream: ", end="")
for part in client.stream("How are you?"):
    print(part, end="", flush=True)
print()

# == Translate
result, = client.translate("<p>I am reading a <b>book</b>.</p>", format="html")
print("Translate:", result.text)

# == TranslateStream
print("TranslateStream: ", end="")
for part in client.translate_stream("How are you? I am reading a book."):
    print(part, end="", flush=True)
print()

# == Score
first, second = client.score([("How are you?", german)
                              for german in ("Wie geht es dir?", "Es regnet.")])
print("Score: the first fits better:",
      str(first.log_prob > second.log_prob).lower())

# == Embed
a, b = client.embed(["A dog runs.", "A dog is running."], normalize=True)
print(f"Embed: cosine {a @ b:.2f}")

# == Classify
if model := model_with(pb.TASK_CLASSIFY):
    result, = client.classify("I like it.", model=model.name)
    label, score = next(iter(result.labels.items()))
    print(f"Classify: {label} {score:.2f}")

# == FillMask
if model := model_with(pb.TASK_FILL_MASK):
    result, = client.fill_mask(f"A dog {model.mask_token}.", model=model.name)
    print("FillMask:", result.text)

# == Answer
if model := model_with(pb.TASK_ANSWER):
    answers, = client.answer([("Who plays?", "Two dogs play. It rains.")],
                             model=model.name)
    print("Answer:", answers[0].text)

# == Rerank
if model := model_with(pb.TASK_RERANK):
    results = client.rerank("Who plays?",
                            ["Two dogs play.", "It rains.", "A man reads."],
                            model=model.name)
    print("Rerank:", *(result.index for result in results))

# == Tokenize
result, = client.tokenize("How are you?")
print("Tokenize:", *result.pieces)

# == Detokenize
text, = client.detokenize([result.ids])
print("Detokenize:", text)

# == Errors
try:
    # A key, if the server wants one: attend.Client(token=key)
    client.generate("How are you?", model="none", timeout=5)
except attend.AttendError as error:
    print(f"Errors: {error.code.name.lower()}: {error.message}")
