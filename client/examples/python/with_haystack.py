"""Haystack: a search by embeddings, and a chat with what it finds. Serve the models
of docs/models.md#models-to-try, then

    pip install haystack-ai
    ATTEND_URL=http://localhost:8080 python3 with_haystack.py
"""

import os

from haystack import Document, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret

server = {
    "api_base_url": os.environ.get("ATTEND_URL", "http://localhost:8080") + "/v1",
    "api_key": Secret.from_token(os.environ.get("ATTEND_TOKEN", "none"))}
encoder = {"model": "all-minilm-l6-v2", **server}

documents = InMemoryDocumentStore(embedding_similarity_function="cosine")
documents.write_documents(
    OpenAIDocumentEmbedder(progress_bar=False, **encoder).run([
        Document(content="The museum opens at ten o'clock."),
        Document(content="The ferry leaves from the old harbour."),
        Document(content="A ticket for the tram costs two euros.")])["documents"])

pipeline = Pipeline()
pipeline.add_component("embedder", OpenAITextEmbedder(**encoder))
pipeline.add_component("retriever", InMemoryEmbeddingRetriever(documents, top_k=1))
pipeline.add_component("prompt", ChatPromptBuilder(template=[
    ChatMessage.from_system(
        "Answer in one sentence, by this text: {{documents[0].content}}"),
    ChatMessage.from_user("{{question}}")], required_variables="*"))
pipeline.add_component("chat", OpenAIChatGenerator(
    model="smollm2-135m", generation_kwargs={"temperature": 0, "max_tokens": 40},
    **server))
pipeline.connect("embedder.embedding", "retriever.query_embedding")
pipeline.connect("retriever.documents", "prompt.documents")
pipeline.connect("prompt.prompt", "chat.messages")

question = "Where does the boat start?"
results = pipeline.run(
    {"embedder": {"text": question}, "prompt": {"question": question}},
    include_outputs_from={"retriever"})
print("Found:", results["retriever"]["documents"][0].content)
print("Answer:", results["chat"]["replies"][0].text)
