"""LangChain: a chat whole and streamed, a tool, an answer by a model of pydantic's, embeddings, a refusal."""

import json
import os

import openai
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel, EmailStr, Field

SANDBOX = {"base_url": os.environ["SANDBOX_URL"], "api_key": os.environ["SANDBOX_KEY"]}
QUESTION = "How do I stop an answer?"


class Person(BaseModel):
    """A person."""

    name: str = Field(min_length=2)
    age: int = Field(gt=0, lt=150)
    mail: EmailStr


@tool
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Rain in {city}."


found = {}
chat = ChatOpenAI(model="rialto-handbook", **SANDBOX)
whole = chat.invoke(QUESTION)
found["text"] = ["Esc" in whole.content, whole.usage_metadata["total_tokens"] > 0]
found["stream"] = "".join(chunk.content for chunk in chat.stream(QUESTION)) == whole.content
(call,) = chat.bind_tools([get_weather]).invoke("What is the weather in Oslo?").tool_calls
found["tool"] = [call["name"], call["args"]]
for method in ("json_schema", "function_calling"):
    person = chat.with_structured_output(Person, method=method).invoke("Ada is 36, a person")
    found[method] = isinstance(person, Person)
# Token arrays, which are what it sends to OpenAI itself, are for services with OpenAI's own tokens.
embeddings = OpenAIEmbeddings(model="text-embedding-bge-m3", check_embedding_ctx_length=False, **SANDBOX)
found["embeddings"] = [len(row) > 100 for row in embeddings.embed_documents(["a cat", "money"])]
try:
    ChatOpenAI(model="rialto-handbook", **(SANDBOX | {"api_key": "wrong"})).invoke(QUESTION)
except openai.AuthenticationError as error:
    found["refused"] = error.status_code
print(json.dumps(found))
