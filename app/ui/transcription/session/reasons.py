"""Why a key that sends sound does nothing now, in a sentence: its button rests."""

from __future__ import annotations

from app.ui.transcription.state import Batch, Head


def why_not_sent(head: Head, batch: Batch) -> str:
    """Return why what is shown cannot be sent now, "" where that is nobody's question."""
    if head.view == "batch":
        return _why_no_batch(batch)
    if head.view != "sound":
        return ""
    if head.work is not None:
        return "It is on its way already."
    if head.why_not:
        return head.why_not
    if not head.sound.is_there:
        return head.sound.why_not
    return "It is over 25 MB: choose Split or Compress first." if head.sound.must_choose else ""


def _why_no_batch(batch: Batch) -> str:
    if not batch.rows:
        return "There are no files in the table."
    if batch.running:
        return "The files are being transcribed."
    if batch.need:
        return f"{batch.need} over 25 MB: open each and choose what to do."
    return "No file of the table is left to transcribe."
