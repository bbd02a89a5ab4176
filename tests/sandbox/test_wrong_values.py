"""No value that a caller can send by accident is answered with 500: every documented field, one at a time.

Each request is a good one with one value replaced, sent as raw JSON over one connection.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from app.sandbox.server import RunningSandbox
from tests.sandbox.support import NOON, running

Where = tuple[str | int, ...]
HOLE = "@@ the value @@"
# As they stand in the body: some of them no JSON library writes.
WRONG = (
    *("null", "true", "false", "0", "-1", "1.5", "1e999", "-1e999", "9" * 4000, "-0.0", "1e30"),
    *('""', '" "', '"\\ud83d"', '"a\\udc00b"', '"\\u0000"', '"NaN"', '"0x"', '"true"', json.dumps("\U0001f600" * 3)),
    *("[]", "{}", "[null]", "[[]]", '[{"type":"text"}]', '{"":null}', '{"\\ud83d":"\\ud83d"}', '["\\ud83d"]'),
    *('{"type":[]}', '{"type":"object","properties":{"v":true},"required":[1]}', "[" * 50 + "]" * 50),
)


def picture(side: int = 256) -> str:
    """A white PNG in base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + b"\xff" * side for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


PNG = picture()
EXTENSION = {
    "character_slug": "nobody",
    "strip_thinking_response": False,
    "disable_thinking": False,
    "enable_web_search": "off",
    "enable_web_scraping": False,
    "enable_x_search": False,
    "enable_web_citations": False,
    "enable_e2ee": True,
    "include_search_results_in_stream": False,
    "return_search_results_as_documents": False,
    "include_venice_system_prompt": True,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8, "pattern": "^a", "format": "email"},
        "number": {"type": "integer", "minimum": 1, "exclusiveMinimum": 0, "multipleOf": 2},
        "list": {"type": "array", "items": {"$ref": "#/$defs/part"}, "minItems": 1},
        "one": {"anyOf": [{"type": "null"}, {"enum": ["a", "b"]}]},
        "fixed": {"const": 1},
    },
    "required": ["name"],
    "$defs": {"part": {"type": "string"}},
}
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look up a city", "parameters": SCHEMA}}
CALL_MADE = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
CHAT = {
    "model": "rialto-handbook",
    "messages": [
        {"role": "system", "content": "Be short.", "name": "a"},
        {"role": "user", "content": [{"type": "text", "text": "Stop?", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL_MADE], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "c1", "content": "7"},
        {"role": "user", "content": "look up Oslo 7"},
    ],
    "service_parameters": EXTENSION,
    **{"temperature": 1, "top_p": 1, "min_p": 0, "min_temp": 0, "max_temp": 1, "top_k": 1, "seed": 1, "n": 1},
    **{"frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1, "stop": ["zz"], "max_tokens": 9},
    **{"max_completion_tokens": 9, "user": "me", "parallel_tool_calls": True, "stop_token_ids": [1]},
    **{"reasoning_effort": "low", "reasoning": {"effort": "low", "enabled": True, "summary": "auto"}},
    **{"logprobs": False, "top_logprobs": 0, "prompt_cache_key": "k", "prompt_cache_retention": "default"},
    **{"stream_options": {"include_usage": True}, "stream": True, "tool_choice": {"function": {"name": "look_up"}}},
    "tools": [TOOL],
}
SEEING = {
    "model": "rialto-vision",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
                {"type": "file", "file": {"file_data": "data:text/plain;base64,AAAA", "filename": "a.txt"}},
            ],
        }
    ],
}
STRUCTURED = {
    "model": "rialto-handbook",
    "messages": [{"role": "user", "content": "Stop?"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": SCHEMA}},
}
DRAWN = {
    "model": "rialto-canvas",
    "prompt": "a harbour",
    "negative_prompt": "fog",
    **{"width": 64, "height": 64, "cfg_scale": 7, "steps": 1, "lora_strength": 1, "seed": 1, "variants": 1},
    **{"format": "png", "style_preset": "Anime", "safe_mode": True, "return_binary": False, "hide_watermark": True},
    **{"embed_exif_metadata": False, "enable_web_search": False, "enhance_prompt": False, "aspect_ratio": "1:1"},
    **{"resolution": "1K", "style_references": [{"image": PNG, "strength": 0.5}]},
}
VIDEO = {
    "model": "rialto-reel-text-to-video",
    "prompt": "a harbour",
    "negative_prompt": "fog",
    **{"duration": "5s", "aspect_ratio": "16:9", "resolution": "360p", "audio": True, "upscale_factor": 1},
    **{"image_url": f"data:image/png;base64,{PNG}", "end_image_url": f"data:image/png;base64,{PNG}"},
    **{"video_url": "data:video/mp4;base64,AAAA", "audio_url": "data:audio/mpeg;base64,AAAA"},
    **{f"reference_{kind}_urls": ["data:x/y;base64,AAAA"] for kind in ("image", "video", "audio", "document")},
    "reference_video_total_duration": 5,
    "scene_image_urls": [f"data:image/png;base64,{PNG}"],
    "elements": [{"frontal_image_url": PNG, "reference_image_urls": [PNG], "video_url": "AAAA"}],
    "keyframes": [{"image_url": PNG, "frame_index": 1}],
    "omni_reference_task_type": "auto",
    "consents": {"a": True},
}
SOME_ADDRESS = "0x" + "11" * 20
RPC_CALL = {"from": SOME_ADDRESS, "to": SOME_ADDRESS, "gas": "0x5208", "value": "0x0", "input": "0x", "type": "0x2"}
RPC_CALL |= {"accessList": [{"address": SOME_ADDRESS, "storageKeys": ["0x" + "00" * 32]}], "nonce": "0x0"}
RPC_CALL |= {"gasPrice": "0x1", "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1", "chainId": "0x1", "data": "0x"}
SIGNED_FOR_CODE = {"chainId": "0x1", "address": SOME_ADDRESS, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}
RPC_CALL |= {"authorizationList": [SIGNED_FOR_CODE]}
OVERRIDES = {SOME_ADDRESS: {"balance": "0x1", "nonce": "0x1", "code": "0x00", "stateDiff": {"0x" + "00" * 32: "0x1"}}}
LOGS = {"fromBlock": "0x0", "toBlock": "latest", "address": [SOME_ADDRESS], "topics": [["0x" + "00" * 32], None]}
# The path in the API, and a body with every documented field.
BODIES: dict[str, tuple[str, Any]] = {
    "chat": ("/chat/completions", CHAT),
    "chat with attachments": ("/chat/completions", SEEING),
    "chat in a schema": ("/chat/completions", STRUCTURED),
    "embeddings": (
        "/embeddings",
        {
            "model": "text-embedding-bge-m3",
            "input": ["a harbour"],
            "encoding_format": "float",
            "dimensions": 1024,
            "user": "me",
        },
    ),
    "speech": (
        "/audio/speech",
        {
            "input": "Hi.",
            "model": "tts-kokoro",
            "voice": "af_sky",
            "response_format": "pcm",
            **{"speed": 1, "streaming": False, "language": "en", "prompt": "calm", "temperature": 1, "top_p": 1},
        },
    ),
    "image": ("/image/generate", DRAWN),
    "image, OpenAI": (
        "/images/generations",
        {
            "model": "rialto-canvas",
            "prompt": "a harbour",
            "size": "256x256",
            **{"n": 1, "output_format": "png", "response_format": "b64_json", "moderation": "auto", "user": "me"},
            **{"quality": "auto", "style": "natural", "background": "auto", "output_compression": 100},
        },
    ),
    "edit": (
        "/image/edit",
        {
            "image": PNG,
            "prompt": "red",
            "model": "firered-image-edit",
            **{"aspect_ratio": "1:1", "resolution": "1K", "output_format": "png", "quality": "low", "safe_mode": True},
            **{"modelId": "firered-image-edit", "enhance_prompt": False},
        },
    ),
    "multi-edit": ("/image/multi-edit", {"images": [PNG, PNG], "prompt": "red", "modelId": "firered-image-edit"}),
    "upscale": ("/image/upscale", {"image": PNG, "scale": 2, "creativity": 0.5, "enhance": False, "replication": 0.3}),
    "background": ("/image/background-remove", {"image": PNG}),
    "background by address": ("/image/background-remove", {"image_url": f"data:image/png;base64,{PNG}"}),
    "video quote": ("/video/quote", VIDEO),
    "video queue": ("/video/queue", VIDEO),
    "video retrieve": (
        "/video/retrieve",
        {"model": "m", "queue_id": "123e4567-e89b-12d3-a456-426614174000", "delete_media_on_completion": False},
    ),
    "video complete": ("/video/complete", {"model": "m", "queue_id": "123e4567-e89b-12d3-a456-426614174000"}),
    "api keys": (
        "/api_keys",
        {
            "apiKeyType": "ADMIN",
            "description": "a key",
            **{"expiresAt": "2030-01-01", "limitPeriod": "EPOCH", "modelPrivacy": "ALL", "consumptionLimit": None},
        },
    ),
    "top-up": ("/x402/top-up", {"walletAddress": SOME_ADDRESS, "amount": 5}),
}
CONTROLS: dict[str, tuple[str, Any]] = {
    "clock": ("/clock", {"offset_s": 0}),
    "balance": ("/balance", {"usd": "5", "diem": "1"}),
    "settings": (
        "/settings",
        {
            "dialect": "service",
            "tokens_per_second": 0,
            "partner": False,
            "staff": False,
            "timestamp_header": False,
            "retry_count_header": 0,
            "auth_refreshed_header": False,
            "limit_type": "user",
            "leaving_model": "",
            "any_key": False,
        },
    ),
    "faucet": ("/faucet", {"address": SOME_ADDRESS, "amount": "1", "ether": "1"}),
    "wallet": (f"/wallets/{SOME_ADDRESS}", {"usd": "5"}),
    "fault": (
        "/faults/answer",
        {
            "seconds": 0,
            "status": 400,
            "body": {"error": "x"},
            "shape": "E1",
            "text": "x",
            "headers": {"x-a": "b"},
            "kind": "json",
            "after": 1,
            "code": "x",
            "landed": True,
            "times": 1,
            "path": "nowhere",
        },
    ),
}
RPC: dict[str, list[Any]] = {
    "eth_call": [RPC_CALL, "latest", OVERRIDES, {"number": "0x1"}],
    "eth_estimateGas": [RPC_CALL, {"blockNumber": "0x0"}, OVERRIDES],
    "eth_getBalance": [SOME_ADDRESS, {"blockHash": "0x" + "00" * 32}],
    "eth_getStorageAt": [SOME_ADDRESS, "0x0", "latest"],
    "eth_getTransactionCount": [SOME_ADDRESS, "pending"],
    "eth_getBlockByNumber": ["latest", True],
    "eth_getBlockByHash": ["0x" + "00" * 32, True],
    "eth_getTransactionByBlockNumberAndIndex": ["latest", "0x0"],
    "eth_getTransactionReceipt": ["0x" + "00" * 32],
    "eth_getLogs": [LOGS],
    "eth_feeHistory": ["0x1", "latest", [50]],
    "eth_sendRawTransaction": ["0x02c0"],
    "debug_traceCall": [RPC_CALL, "latest", {"tracer": "callTracer"}],
    "trace_call": [RPC_CALL, ["trace"], "latest"],
    "web3_sha3": ["0x00"],
}


def places(value: Any, path: Where = ()) -> Iterator[Where]:
    """The paths of all values inside a body, outer ones first."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from places(one, (*path, name))


def with_hole(value: Any, path: Where) -> Any:
    if not path:
        return HOLE
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_hole(value[path[0]], path[1:])
    return copy


class Connection:
    """One connection to a Sandbox. Thousands of requests go through it, and the standard library's take a third of
    httpx's time."""

    def __init__(self, sandbox: RunningSandbox) -> None:
        self.sent = 0
        self._http = http.client.HTTPConnection(sandbox.origin.removeprefix("http://"), timeout=60)
        self._headers = {"authorization": f"Bearer {sandbox.api_key}"}

    def send(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> tuple[int, bytes]:
        """Return the status and the body of the answer."""
        self.sent += 1
        self._http.request(method, path, body, self._headers | {"content-type": kind})
        answer = self._http.getresponse()
        return answer.status, answer.read()

    def must(self, path: str, body: Any = None) -> None:
        status, content = self.send("POST", path, json.dumps(body).encode())
        assert status == 200, content

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """To a Sandbox for which a minute passes with every eighteenth request, so that no limit and no block is met.

    The strictest limits are 20 requests or failures; and with every minute the chains have thirty blocks to make.
    """
    made: list[Connection] = []
    with running(
        tmp_path_factory.mktemp("sandbox"), clock=lambda: NOON + 61 * (made[0].sent // 18 if made else 0)
    ) as client:
        made.append(Connection(client.running))
        with contextlib.closing(made[0]):
            yield made[0]


def assert_none_is_500(hurried: Connection, url: str, body: Any) -> None:
    broken = []
    for path in places(body):
        template = json.dumps(with_hole(body, path))
        for wrong in WRONG:
            status, content = hurried.send("POST", url, template.replace(json.dumps(HOLE), wrong).encode())
            if status in (500, 502, 504) or b"Traceback" in content:
                broken.append(f"{'.'.join(map(str, path))} = {wrong[:40]}: {status}")
    assert broken == []


@pytest.mark.parametrize("name", BODIES)
def test_no_wrong_value_in_a_field_is_our_fault(hurried: Connection, name: str) -> None:
    path, body = BODIES[name]
    assert_none_is_500(hurried, f"/api/v1{path}", body)


@pytest.mark.parametrize("name", CONTROLS)
def test_no_wrong_value_in_a_control_is_our_fault(hurried: Connection, name: str) -> None:
    path, body = CONTROLS[name]
    assert_none_is_500(hurried, f"/sandbox{path}", body)
    hurried.must("/sandbox/reset")


@pytest.mark.parametrize("method", RPC)
def test_no_wrong_value_in_a_call_to_a_chain_is_our_fault(hurried: Connection, method: str) -> None:
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": RPC[method]}
    assert_none_is_500(hurried, "/api/v1/crypto/rpc/base-mainnet", body)


@pytest.mark.parametrize("url", ["/models", "/characters", "/billing/usage-history", "/billing/usage-analytics"])
def test_no_wrong_value_in_a_query_is_our_fault(hurried: Connection, url: str) -> None:
    hurried.must("/sandbox/reset")  # the bill of all requests before would be summed each time
    for name in ("chat in a schema", "embeddings"):
        path, body = BODIES[name]
        hurried.must(f"/api/v1{path}", body)
    names = ["type", "search", "limit", "offset", "sort", "sortBy", "tags", "categories", "isPro", "cursor", "pageSize"]
    names += ["startTimestamp", "endTimestamp", "currency", "lookback", "startDate", "endDate", "isAdult", "page"]
    values = ["", "-1", "²", "9" * 4000, "1e999", "NaN", "%ff", "%ed%a0%bd", "a%00b", "1.0.1.1", "9" * 400 + ".1.1.1"]
    values += ["0001-01-01", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "²d", "1.1." + "9" * 400 + ".1"]
    broken = []
    for name, value in itertools.product(names, values):
        status, _ = hurried.send("GET", f"/api/v1{url}?{name}={quote(value, safe='%+:')}")
        if status >= 500:
            broken.append(f"{name}={value[:40]}: {status}")
    assert broken == []


@pytest.mark.parametrize("path", ["/audio/transcriptions", "/audio/voices", "/image/edit", "/image/multi-edit"])
def test_no_wrong_value_in_a_form_is_our_fault(hurried: Connection, path: str) -> None:
    names = ["model", "response_format", "timestamps", "language", "name", "prompt", "aspect_ratio", "resolution"]
    names += ["image", "modelId", "file", "images", "", "output_format", "enhance_prompt", "quality", "scale"]
    values = [b"", b" ", b"\xff\xfe", b"\xed\xa0\xbd", b"\0", b"9" * 4000, b"1e999", b"{}", b"[]", b"null"]
    field = "images" if "multi" in path else "image" if "image" in path else "file"
    sent = base64.b64decode(PNG) if "image" in path else b"RIFF\x10\0\0\0WAVEfmt "
    broken = []
    for name, value in itertools.product(names, values):
        # As raw bytes: a library would refuse to send some of them.
        part = b'--zz\r\ncontent-disposition: form-data; name="%b"\r\n\r\n%b\r\n'
        file = b'--zz\r\ncontent-disposition: form-data; name="%b"; filename="a.%b"\r\n\r\n%b\r\n--zz--\r\n'
        ending = b"png" if "image" in path else b"wav"
        content = part % (name.encode(), value) + file % (field.encode(), ending, sent)
        status, _ = hurried.send("POST", f"/api/v1{path}", content, "multipart/form-data; boundary=zz")
        if status >= 500:
            broken.append(f"{name}={value[:40]!r}: {status}")
    assert broken == []
