"""`GET /openapi.json`: what is served, as an OpenAPI 3.1 document made of the routes and of the fields they read."""

from __future__ import annotations

import re

from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import Json
from app.sandbox.http.routes import API_ROOT, ROUTES, Route

TYPES = {"s": "string", "n": "number", "i": "integer", "b": "boolean", "a": "array", "o": "object"}
_VIDEO = (
    "model:s* prompt:s negative_prompt:s duration:s* aspect_ratio:s resolution:s audio:b upscale_factor:n image_url:s "
    "end_image_url:s video_url:s audio_url:s reference_image_urls:a reference_video_urls:a reference_audio_urls:a "
    "reference_document_urls:a reference_video_total_duration:n scene_image_urls:a elements:a keyframes:a "
    "omni_reference_task_type:s consents:o"
)
# The fields of a JSON body by the path in the API: name:types, each a letter of TYPES; with * it has to be there.
BODIES = {
    "/chat/completions": "model:s* messages:a* service_parameters:o venice_parameters:o stream:b stream_options:o "
    "n:i temperature:n top_p:n min_p:n min_temp:n max_temp:n top_k:i seed:i frequency_penalty:n presence_penalty:n "
    "repetition_penalty:n stop:sa stop_token_ids:a max_tokens:i max_completion_tokens:i user:s tools:a tool_choice:so "
    "parallel_tool_calls:b reasoning_effort:s reasoning:o logprobs:b top_logprobs:i prompt_cache_key:s "
    "prompt_cache_retention:s response_format:o",
    "/embeddings": "input:sa* model:s* encoding_format:s dimensions:i user:s",
    "/audio/speech": "input:s* model:s voice:s response_format:s speed:n streaming:b language:s prompt:s temperature:n "
    "top_p:n",
    "/image/generate": "model:s* prompt:s* negative_prompt:s width:i height:i cfg_scale:n steps:i lora_strength:i "
    "seed:i variants:i format:s style_preset:s safe_mode:b return_binary:b hide_watermark:b embed_exif_metadata:b "
    "enable_web_search:b enhance_prompt:b aspect_ratio:s resolution:s style_references:a",
    "/images/generations": "prompt:s* model:s size:s n:i output_format:s response_format:s moderation:s user:s "
    "quality:s style:s background:s output_compression:i",
    "/image/edit": "image:s* prompt:s* model:s modelId:s aspect_ratio:s resolution:s output_format:s quality:s "
    "safe_mode:b enhance_prompt:b",
    "/image/multi-edit": "images:a* prompt:s* modelId:s aspect_ratio:s resolution:s output_format:s quality:s "
    "safe_mode:b enhance_prompt:b",
    "/image/upscale": "image:s* scale:n creativity:n enhance:b replication:n",
    "/image/background-remove": "image:s image_url:s",
    "/video/quote": _VIDEO,
    "/video/queue": _VIDEO,
    "/video/retrieve": "model:s* queue_id:s* delete_media_on_completion:b",
    "/video/complete": "model:s* queue_id:s*",
    "/api_keys": "id:s apiKeyType:s description:s expiresAt:s limitPeriod:s modelPrivacy:s consumptionLimit:o",
    "/x402/top-up": "walletAddress:s amount:n",
    "/crypto/rpc/{network}": "jsonrpc:s method:s params:a id:sio",
}
# Forms, whose files are bytes.
FORMS = {
    "/audio/transcriptions": "file:s* model:s response_format:s timestamps:s language:s",
    "/audio/voices": "file:s* model:s name:s language:s",
}
CONTROLS = {
    "/clock": "offset_s:n*",
    "/balance": "usd:sn diem:sn",
    "/settings": "dialect:s tokens_per_second:n partner:b staff:b timestamp_header:b retry_count_header:i any_key:b "
    "no_limits:b default_models:b auth_refreshed_header:b limit_type:s leaving_model:s",
    "/faucet": "address:s* amount:s ether:s",
    "/wallets/{address}": "usd:sn",
    "/faults/{name}": "seconds:n status:i body:o shape:s text:s headers:o kind:s after:i code:s landed:b times:i "
    "path:s",
    "/answers": "answers:a name:s match:o times:i answer:o",
}
MEDIA = {
    "/audio/speech": "audio/*",
    "/image/generate": "application/json image/*",
    "/image/edit": "image/*",
    "/image/multi-edit": "image/*",
    "/image/upscale": "image/*",
    "/image/background-remove": "image/*",
    "/video/retrieve": "application/json video/mp4",
    "/downloads/{token}": "video/mp4",
    "/audio/transcriptions": "application/json text/plain",
    "/chat/completions": "application/json text/event-stream",
}


async def document(call: Call) -> Response:
    return json_answer(described(call.site.origin))


def described(origin: str) -> Json:
    paths: Json = {}
    for route in ROUTES:
        for method in route.methods:
            paths.setdefault(f"/{'/'.join(route.path)}", {})[method.lower()] = _operation(route, method)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rialto Sandbox",
            "version": "1",
            "description": "A local stand-in for the service, for play money. The paths in /api/v1 are also in /v1.",
        },
        "servers": [{"url": origin}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "wallet": {"type": "apiKey", "in": "header", "name": "X-Sign-In-With-X"},
                "payment": {"type": "apiKey", "in": "header", "name": "PAYMENT-SIGNATURE"},
            },
            "schemas": {
                "Error": {
                    "type": "object",
                    "properties": {
                        "error": {"type": ["string", "object"], "description": "What is wrong, as a sentence"},
                        "details": {"type": "object", "description": "What is wrong with each field, as a tree"},
                    },
                }
            },
        },
    }


def _operation(route: Route, method: str) -> Json:
    whole = "/" + "/".join(route.path)
    path = whole.removeprefix(API_ROOT).removeprefix("/sandbox")
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    answers: Json = {kind: {} for kind in MEDIA.get(path, "application/json").split()}
    operation: Json = {
        "operationId": f"{method.lower()}_{re.sub('[^a-z0-9]+', '_', whole.lower()).strip('_') or 'front'}",
        "tags": ["controls" if whole.startswith("/sandbox") else "api" if whole.startswith(API_ROOT) else "pages"],
        "security": _security(route),
        "responses": {"200": {"description": "Done", "content": answers}},
    }
    if not route.open or route.credentials != "any":
        operation["responses"]["default"] = {"description": "Refused", "content": error}
    if names := re.findall(r"\{(\w+)\}", whole):
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    known = CONTROLS if whole.startswith("/sandbox") else BODIES
    if method in ("POST", "PUT", "PATCH") and path in known:
        operation["requestBody"] = {"content": {"application/json": {"schema": schema_of(known[path])}}}
    elif method == "POST" and path in FORMS:
        operation["requestBody"] = {"content": {"multipart/form-data": {"schema": schema_of(FORMS[path])}}}
    return operation


def _security(route: Route) -> list[Json]:
    """Return what a call may come with; an empty object stands for nothing."""
    if route.credentials == "payment":
        return [{"payment": []}, {}]
    if route.open:
        return []
    ways: list[Json] = [{"wallet": []}] if route.credentials == "wallet" else [{"key": []}]
    if route.credentials == "any":
        ways.append({"wallet": []})
    return [*ways, {}] if route.public else ways


def schema_of(fields: str) -> Json:
    """Return the schema of a body from its fields. Any of them may also be null, which counts as absent."""
    properties: Json = {}
    required = []
    for field in fields.split():
        name, _, kinds = field.partition(":")
        needed = kinds.endswith("*")
        types = [TYPES[letter] for letter in kinds.rstrip("*")] + ([] if needed else ["null"])
        properties[name] = {"type": types[0] if len(types) == 1 else types}
        required += [name] if needed else []
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}
