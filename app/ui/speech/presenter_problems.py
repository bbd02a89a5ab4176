"""What a failed part of a take means, and the way on: the part alone again, or another voice."""

from __future__ import annotations

from dataclasses import replace

from app.core.problems import ActionSpec, Problem, describe
from app.service.errors import BadRequest, ServiceError
from app.service.speech import VOICE_PREFIX
from app.storage.takes import Take
from app.ui.speech.presenter_voices import VoiceList

MOST_CHARS = 130  # of what the service says about a voice that it does not know


def words_for(error: ServiceError, take: Take, voice_list: VoiceList) -> Problem:
    """What went wrong, with the way on: the part alone again, or another voice."""
    count = sum(part.state != "complete" for part in take.parts)
    kept = "Everything before it is kept." if count < len(take.parts) else ""
    problem = describe(error, subject="text", charged=kept)
    if isinstance(error, BadRequest) and _is_about_the_voice(error) and take.voice.startswith(VOICE_PREFIX):
        return replace(
            problem,
            what=f"The service does not know the cloned voice {take.voice_name} any more",
            meaning=f"It keeps such a voice for about a week, for the model that made it. Nothing was charged. {kept}",
            primary=ActionSpec(f"clone-again:{take.voice}", "Clone it again"),
            alternative=ActionSpec("choose-voice", "Choose a voice"),
        )
    if isinstance(error, BadRequest) and _is_about_the_voice(error):
        model = voice_list.model(take.model)
        name = model.name if model is not None else take.model
        return replace(
            problem,
            what=f"{name} does not know the voice {take.voice_name}",
            meaning=f"{shortened(error.message)} Nothing was charged.",
            primary=ActionSpec("model-voice", f"Use {name}’s own voice"),
            alternative=ActionSpec("choose-voice", "Choose a voice"),
        )
    if problem.primary is None or problem.primary.id in ("retry", "continue"):
        failed = next((part for part in take.parts if part.state != "complete"), None)
        words = f"Ask for part {failed.number} again" if failed and len(take.parts) > 1 else "Ask again"
        problem = replace(problem, primary=ActionSpec("go-on", words))
    return problem


def shortened(message: str) -> str:
    """Return the beginning of a message, cut behind a comma: the whole list of voices is among the details."""
    if len(message) <= MOST_CHARS:
        return message
    return f"{message[:MOST_CHARS].rpartition(',')[0] or message[:MOST_CHARS]}, …"


def _is_about_the_voice(error: BadRequest) -> bool:
    return any(item.path.split(".")[0] == "voice" for item in error.fields) or "voice" in error.message.casefold()
