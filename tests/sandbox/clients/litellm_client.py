"""LiteLLM: a chat whole and streamed, a tool, an answer by a model of pydantic's, embeddings, a refusal."""

import json
import os

import litellm
from pydantic import BaseModel, EmailStr, Field

SANDBOX = {"api_base": os.environ["SANDBOX_URL"], "api_key": os.environ["SANDBOX_KEY"]}
CHAT = {"model": "openai/rialto-handbook", **SANDBOX}
MESSAGES = [{"role": "user", "content": "How do I stop an answer?"}]
TOOL = {"name": "get_weather", "description": "Tells the weather of a city", "parameters": {"type": "object"}}
TOOL["parameters"] |= {"properties": {"city": {"type": "string"}}, "required": ["city"]}


class Person(BaseModel):
    name: str = Field(min_length=2)
    age: int = Field(gt=0, lt=150)
    mail: EmailStr


found = {}
whole = litellm.completion(messages=MESSAGES, **CHAT).choices[0].message.content
found["text"] = "Esc" in whole
stream = litellm.completion(messages=MESSAGES, stream=True, **CHAT)
found["stream"] = "".join(chunk.choices[0].delta.content or "" for chunk in stream) == whole
asked = [{"role": "user", "content": "What is the weather in Oslo?"}]
tools = [{"type": "function", "function": TOOL}]
(call,) = litellm.completion(messages=asked, tools=tools, **CHAT).choices[0].message.tool_calls
found["tool"] = [call.function.name, json.loads(call.function.arguments)]
filled = litellm.completion(messages=[{"role": "user", "content": "Ada is 36"}], response_format=Person, **CHAT)
found["object"] = Person.model_validate_json(filled.choices[0].message.content).age > 0
rows = litellm.embedding(model="openai/text-embedding-bge-m3", input=["a cat", "money"], **SANDBOX).data
found["embeddings"] = [len(row["embedding"]) > 100 for row in rows]
try:
    litellm.completion(messages=MESSAGES, **(CHAT | {"api_key": "wrong"}))
except litellm.AuthenticationError as error:
    found["refused"] = error.status_code
print(json.dumps(found))
