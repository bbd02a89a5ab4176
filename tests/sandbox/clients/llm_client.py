"""The command `llm`, told of the service by its own file."""

import json
import os
import subprocess
import sys
from pathlib import Path

home = Path(os.environ["LLM_USER_PATH"])
home.mkdir(exist_ok=True)
model = {"model_id": "sandbox", "model_name": "rialto-handbook", "api_base": os.environ["SANDBOX_URL"]}
model |= {"api_key_name": "sandbox", "supports_schema": True}
(home / "extra-openai-models.yaml").write_text(json.dumps([model]), encoding="utf-8")  # which is YAML too


def llm(*arguments: str) -> str:
    command = [sys.executable, "-m", "llm", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True).stdout


key = ("--key", os.environ["SANDBOX_KEY"])
found = {"text": "Esc" in llm("-m", "sandbox", *key, "How do I stop an answer?")}
found["object"] = sorted(json.loads(llm("-m", "sandbox", *key, "--schema", "name, age int", "Ada is 36")))
print(json.dumps(found))
