"""A class for programs that call sentence-transformers: `encode` and `similarity`, by
a server. Any model that embeds will do, the bundled one, too.

    pip install ./client/python
    ATTEND_ADDRESS=localhost:50051 python3 encoder.py
"""

import attend
import numpy

BATCH = 256  # texts a call


class Encoder:
    """Threads may share it, as they may its client."""

    def __init__(self, client, model):
        self._client = client
        self._model = model

    def get_sentence_embedding_dimension(self):
        return self._client.model(self._model).embedding_width

    def encode(self, sentences, prompt_name=None, normalize_embeddings=False):
        """The vector of a text, shape [width], or those of several, [texts, width].
        Long texts are cut."""
        if isinstance(sentences, str):
            return self.encode([sentences], prompt_name, normalize_embeddings)[0]
        options = {"model": self._model, "truncate": True}
        if prompt_name is not None:
            options["prompt_name"] = prompt_name
        if normalize_embeddings:  # else as the model's files say
            options["normalize"] = True
        rows = [self._client.embed(sentences[i:i + BATCH], **options)
                for i in range(0, len(sentences), BATCH)]
        if not rows:
            return numpy.empty((0, self.get_sentence_embedding_dimension()),
                               numpy.float32)
        return numpy.concatenate(rows)

    @staticmethod
    def similarity(a, b):
        """The cosine of each row of `a` with each of `b`."""
        a, b = (rows / numpy.linalg.norm(rows, axis=-1, keepdims=True)
                for rows in map(numpy.atleast_2d, (a, b)))
        return a @ b.T


def main():
    with attend.Client() as client:
        encoder = Encoder(client, "en-de")
        texts = ["A dog runs.", "A dog is running.", "It rains."]
        vectors = encoder.encode(texts)
        print("Shape:", vectors.shape)
        for text, cosine in zip(texts, encoder.similarity(vectors[0], vectors)[0]):
            print(f"{cosine:.2f} {text}")


if __name__ == "__main__":
    main()
