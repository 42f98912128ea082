"""LangChain: a search by embeddings, and a chat with what it finds. Serve the models
of docs/models.md#models-to-try, then

    pip install langchain-openai
    ATTEND_URL=http://localhost:8080 python3 with_langchain.py
"""

import os

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

server = {"base_url": os.environ.get("ATTEND_URL", "http://localhost:8080") + "/v1",
          "api_key": os.environ.get("ATTEND_TOKEN", "none")}

# At most 256 texts a call, and texts in place of ids of OpenAI's vocabulary.
embeddings = OpenAIEmbeddings(model="all-minilm-l6-v2", chunk_size=256,
                              check_embedding_ctx_length=False, **server)
documents = InMemoryVectorStore.from_texts(
    ["The museum opens at ten o'clock.", "The ferry leaves from the old harbour.",
     "A ticket for the tram costs two euros."], embeddings)
question = "Where does the boat start?"
found, = documents.similarity_search(question, k=1)
print("Found:", found.page_content)

chat = ChatOpenAI(model="smollm2-135m", temperature=0, max_tokens=40, **server)
chain = (ChatPromptTemplate.from_messages([
    ("system", "Answer in one sentence, by this text: {text}"),
    ("user", "{question}")]) | chat | StrOutputParser())
print("Answer: ", end="")
for part in chain.stream({"text": found.page_content, "question": question}):
    print(part, end="", flush=True)
print()
