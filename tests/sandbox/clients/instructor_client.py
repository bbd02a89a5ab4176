"""Instructor: answers by a model of pydantic's, in each of its ways to ask for one, and a list of them."""

import json
import os

import instructor
from openai import OpenAI
from pydantic import BaseModel, EmailStr, Field


class Person(BaseModel):
    name: str = Field(min_length=2)
    age: int = Field(gt=0, lt=150)
    mail: EmailStr


found = {}
plain = OpenAI(base_url=os.environ["SANDBOX_URL"], api_key=os.environ["SANDBOX_KEY"])
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    client = instructor.from_openai(plain, mode=mode)
    ask = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "Person: Ada is 36"}]}
    person = client.chat.completions.create(response_model=Person, max_retries=0, **ask)
    found[mode.name] = isinstance(person, Person)
print(json.dumps(found))
