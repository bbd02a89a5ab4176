"""pydantic-ai: an agent that answers, one that fills a model, one that calls a tool, and a stream."""

import asyncio
import json
import os

from pydantic import BaseModel, EmailStr, Field
from pydantic_ai import Agent, ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

QUESTION = "How do I stop an answer?"


class Person(BaseModel):
    name: str = Field(min_length=2)
    age: int = Field(gt=0, lt=150)
    mail: EmailStr


def model(key: str) -> OpenAIChatModel:
    return OpenAIChatModel("rialto-handbook", provider=OpenAIProvider(base_url=os.environ["SANDBOX_URL"], api_key=key))


async def main() -> dict[str, object]:
    found: dict[str, object] = {}
    chat = model(os.environ["SANDBOX_KEY"])
    whole = (await Agent(chat).run(QUESTION)).output
    found["text"] = "Esc" in whole
    async with Agent(chat).run_stream(QUESTION) as answer:
        found["stream"] = [piece async for piece in answer.stream_text()][-1] == whole
    person = await Agent(chat, output_type=Person).run("Ada is 36")
    found["object"] = isinstance(person.output, Person)
    agent, asked = Agent(chat), []

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Tell the weather of a city."""
        asked.append(city)
        return f"Rain in {city}."

    found["tool"] = ["Rain in Oslo." in (await agent.run("What is the weather in Oslo?")).output, asked]
    try:
        await Agent(model("wrong")).run(QUESTION)
    except ModelHTTPError as error:
        found["refused"] = error.status_code
    return found


print(json.dumps(asyncio.run(main())))
