"""Why a sealed chat goes without something. Nothing but words, for requests and for the controls (R-TEE-10)."""

from __future__ import annotations

from app.translation import tr

# Wire name → why it is off.
REASONS = {
    "enable_web_search": tr("Web search is off while the chat is sealed: the service would have to read the question."),
    "enable_web_scraping": tr(
        "Reading web pages is off while the chat is sealed: the service would have to read the message."
    ),
    "enable_x_search": tr(
        "Social posts are off while the chat is sealed: the service would have to read the question."
    ),
    "character_slug": tr("Characters are off while the chat is sealed: the service cannot add the character’s prompt."),
    "tools": tr("Functions are off while the chat is sealed: they would be sent in the clear."),
    "response_format": tr("JSON output is off while the chat is sealed: its schema would be sent in the clear."),
    "stop": tr("Stop sequences are off while the chat is sealed: they would be sent in the clear."),
    "reasoning_effort": tr("The reasoning effort cannot be chosen while the chat is sealed."),
    "extra": tr("Other fields are off while the chat is sealed: they would be sent in the clear."),
    "model": tr("A model with options after its name cannot be sealed."),
    "files": tr("Attachments and document passages cannot be sealed. Paste text into the message instead."),
    "tool_calls": tr("A chat with function calls cannot be sealed."),
    "prompt_cache_key": tr("The prompt cache is off while the chat is sealed."),
    "include_venice_system_prompt": tr("The service cannot add its system prompt to a sealed chat."),
    "parameters": tr("The reasoning switches are off while the chat is sealed."),
}
