"""`POST /chat/completions`: admission, gates, looking things up, and the answer, whole or streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from app.sandbox.charges import add_leaving_headers, refuse_unpaid
from app.sandbox.chat import answer_engines, prompts
from app.sandbox.chat.attachments import check_parts
from app.sandbox.chat.augmentation import Findings, look_up
from app.sandbox.chat.chat_request import ChatRequest, parse
from app.sandbox.chat.completion import DONE, Completion, Job
from app.sandbox.chat.file_parts import check_files, with_text
from app.sandbox.chat.structured import check_schemas
from app.sandbox.http.call import Call, event_stream, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, context_overflow
from app.sandbox.http.validation import Checker
from app.sandbox.model_catalog import ModelEntry
from app.sandbox.policy_words import BLOCKED, add_verdicts, refuse_content

if TYPE_CHECKING:
    from app.sandbox.sealed.relay import SealedRequest


async def complete(call: Call) -> Response:
    names = call.names
    body = call.json_object()
    sealed: SealedRequest | None = None
    wanted = await call.site.models.find(str(body.get("model")))
    in_enclave = wanted is not None and wanted.has("supportsTeeAttestation")
    if wanted is not None and in_enclave:  # before anything is checked: all but the enclave sees envelopes alone
        from app.sandbox.sealed import relay

        sealed = relay.opened(call, body, wanted)
        body = body if sealed is None else sealed.body
    request = parse(body, names.extension, names.other_extension, flat_list=names.issues_in_errors)
    model = await _admitted_model(call, request)
    if call.scripted is None:
        _check_gates(call, request, model)
    character = None
    if request.extension.character_slug is not None:
        character = call.site.characters.find(request.extension.character_slug)
        if character is None:
            raise HttpError(404, "The character was not found")
    if model.engine != "local":
        refuse_unpaid(call)
    question, earlier = answer_engines.question_of(request)
    findings = Findings()
    asked = question if sealed is None else ""  # what is sealed is read by nobody but the enclave
    refuse_content(asked, "What may I ask?")
    if call.scripted is None:
        findings = await look_up(call.site, model, request.extension, question, earlier)
    cited = request.extension.enable_web_citations
    persona = character.persona if character else None
    read = replace(request, messages=with_text(request.messages))
    prompt = prompts.effective(read, persona, findings.as_prompt(), cited=cited)
    if model.context_tokens is not None and prompt.tokens > model.context_tokens:
        raise context_overflow(prompt.tokens, model.context_tokens)
    cache = prompts.CacheUse()
    if model.caches_prompts:
        now = call.world.clock.now()
        cache = prompts.use_cache(call.caller.prompt_cache, prompt, model.id, request.cache_key, now)
    if sealed is None:
        call.world.last_prompt = {"model": model.id, "messages": list(prompt.messages), "tokens": prompt.tokens}
    first_turn = not any(message.get("role") == "assistant" for message in request.messages)
    greeting = character.opening(first_turn=first_turn) if character else ""
    scripted = call.scripted.scripted if call.scripted is not None else None
    turn = answer_engines.make_turn(request, model, prompt.messages, findings, greeting, scripted)
    completion = Completion(call, Job(turn, prompt.tokens, cache, f"chatcmpl-{call.world.token(8)}"))
    _add_model_headers(call, model)
    add_verdicts(call, asked)
    completion.is_blocked = BLOCKED in asked.lower()
    if in_enclave:
        relay.add_headers(call, model)
    await completion.begin()
    if sealed is not None and not relay.tells_plain_json(call):
        return event_stream(relay.sealed_events(call, sealed, completion.id, _closing(completion)))
    if sealed is not None:
        return json_answer(await completion.whole())
    if request.stream:
        return event_stream(_closing(completion))
    return json_answer(await completion.whole())


async def _closing(completion: Completion) -> AsyncIterator[bytes]:
    """Stream the events, and settle the bill even when nobody listens to the end."""
    try:
        async for event in completion.events():
            yield event
    except HttpError as refusal:  # the status went out long ago: only the stream itself can still say it
        yield completion.error_event(str(refusal.body["error"]), "upstream_error")
        yield DONE
    finally:
        await completion.end()


async def _admitted_model(call: Call, request: ChatRequest) -> ModelEntry:
    model = await call.site.models.find(request.model)
    if call.scripted is not None and (model is None or model.type != "text"):
        model = call.site.models.stand_in(request.model)
    if model is None or model.type != "text":
        raise HttpError(404, "The model was not found")
    call.model = model.id
    call.admit(model.id, model.tier)
    if model.offline and call.scripted is None:
        raise HttpError(503, "The model is offline")
    return model


def _check_gates(call: Call, request: ChatRequest, model: ModelEntry) -> None:
    """Refuse what the model cannot do before anything is spent: 400 with the fields that need the capability."""
    check = Checker(flat_list=call.names.issues_in_errors)
    for kind, capability, what in (
        ("image_url", "supportsVision", "images"),
        ("input_audio", "supportsAudioInput", "audio"),
        ("video_url", "supportsVideoInput", "video"),
    ):
        if request.parts(kind) and not model.has(capability):
            check.complain(("messages",), f"The model {model.id} does not support {what}")
    if (request.tools or "tool_choice" in request.sent) and not model.has("supportsFunctionCalling"):
        check.complain(("tools",), f"The model {model.id} does not support function calling")
    if request.response_format and not model.has("supportsResponseSchema"):
        check.complain(("response_format",), f"The model {model.id} does not support response schemas")
    if request.logprobs and not model.has("supportsLogProbs"):
        check.complain(("logprobs",), f"The model {model.id} does not support log probabilities")
    if model.engine != "local":  # a server on this computer reads schemas in its own way
        check_schemas(check, request)
    _check_effort(check, request, model)
    check_files(check, request)
    cap = model.max_completion_tokens
    if cap is not None and request.max_tokens is not None and request.max_tokens > cap:
        check.complain(("max_completion_tokens",), f"Number must be less than or equal to {cap}")
    if model.has("supportsVision"):
        check_parts(check, request)
    check.finish()


def _check_effort(check: Checker, request: ChatRequest, model: ModelEntry) -> None:
    effort = request.effort
    if effort in (None, "none") or model.engine == "local":
        return
    if not model.has("supportsReasoningEffort"):
        check.complain(("reasoning_effort",), f"The model {model.id} does not support reasoning effort")
    elif effort not in model.efforts:
        check.complain(("reasoning_effort",), f"Expected one of {', '.join(model.efforts)}, received '{effort}'")


def _add_model_headers(call: Call, model: ModelEntry) -> None:
    prefix = call.names.header_prefix
    router = str(model.extra["server"]) if model.engine == "local" else "rialto-sandbox"
    call.headers |= {
        f"{prefix}model-id": model.id,
        f"{prefix}model-name": model.name.encode("ascii", "replace").decode(),
        f"{prefix}model-router": router,
    }
    add_leaving_headers(call, model.id, model.replaced_by)
