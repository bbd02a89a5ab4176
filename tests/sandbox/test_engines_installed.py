"""Which engines are there, and that none is loaded before it is needed."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from app.sandbox import installed_engines
from tests.sandbox.support import Client

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"numpy", "soundfile", "espeakng_loader", "pocketsphinx", "av", "PIL", "eth", "eth_account", "python_multipart"}


def test_every_engine_is_listed_with_what_it_does(sandbox: Client) -> None:
    listed = sandbox.control("/engines", method="GET")
    assert listed["extra"] == "rialto[sandbox]"
    assert [one["name"] for one in listed["data"]] == list(installed_engines.ENGINES)
    assert all(one["installed"] and not one["missing"] and one["does"] for one in listed["data"])


@pytest.mark.parametrize("name", [name for name, engine in installed_engines.ENGINES.items() if engine.modules])
def test_a_missing_engine_is_named_with_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.sandbox.http.errors import HttpError

    monkeypatch.setattr(installed_engines, "find_spec", lambda _: None)
    with pytest.raises(HttpError) as caught:
        installed_engines.need(name)
    text = str(caught.value.body["error"])
    assert caught.value.status == 501 and installed_engines.ENGINES[name].title in text
    assert "rialto[sandbox]" in text and installed_engines.ENGINES[name].packages in text


def test_a_built_program_names_the_package_that_brings_the_engine() -> None:
    engine = installed_engines.ENGINES["speech"]
    installed = installed_engines.remedy(engine, Path("/usr/lib/rialto/rialto"))
    assert installed == "It comes with the package rialto-sandbox: sudo apt install rialto-sandbox"
    assert "pip" not in installed_engines.remedy(engine, Path("/home/somebody/rialto/rialto"))
    assert "pip install espeakng-loader" in installed_engines.remedy(engine)


def test_a_python_that_an_engine_is_not_released_for_is_named() -> None:
    engine = installed_engines.ENGINES["transcription"]
    said = installed_engines.remedy(engine, python=(3, 14))
    assert said == "It is not released for Python 3.14 yet. Use Python 3.13 for it."
    assert "pip install pocketsphinx" in installed_engines.remedy(engine, python=(3, 13))


def test_a_sandbox_that_only_chats_loads_no_engine() -> None:
    script = (
        "import json, pathlib, sys, urllib.request\n"
        "from app.sandbox.server import Options, start_sandbox\n"
        f"resources = pathlib.Path({str(ROOT / 'resources')!r})\n"
        "body = json.dumps({'model': 'rialto-handbook', 'messages': [{'role': 'user', 'content': 'Hello'}]}).encode()\n"
        "with start_sandbox(pathlib.Path('.'), resources, options=Options(local_ports={})) as sandbox:\n"
        "    headers = {'Authorization': f'Bearer {sandbox.api_key}', 'Content-Type': 'application/json'}\n"
        "    chat = urllib.request.Request(sandbox.base_url + '/chat/completions', body, headers)\n"
        "    assert urllib.request.urlopen(chat).status == 200\n"
        "    urllib.request.urlopen(sandbox.base_url + '/models?type=all').read()\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", installed_engines.ENGINES)
def test_the_part_that_tells_whether_an_engine_is_loaded_is_a_module_of_ours(name: str) -> None:
    assert find_spec(f"app.sandbox.{installed_engines.ENGINES[name].part}") is not None
