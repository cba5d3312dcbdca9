"""What a user and the holder of their conversation say and do reaches the other side whole."""

from collections.abc import AsyncIterator

import httpx
import pytest

from bot.app import Parts
from bot.lab.botapi import LAB_TOKEN, Fault, Harm, Seen
from tests.stage import OWNER, USER, Stage


@pytest.fixture
async def held(on_stage: Stage) -> AsyncIterator[Stage]:
    """The owner holds the user's conversation, in the private chat."""
    async with on_stage.bot(parts=Parts(idle_seconds=0.05, hurries=True)):
        on_stage.telegram.user_sends(USER, "/human")
        await on_stage.state(USER, "handoff_pending")
        on_stage.telegram.user_sends(OWNER, "/claim")
        await on_stage.shows(OWNER, "You are talking to")
        await on_stage.shows(USER, "is here now")
        yield on_stage


async def relayed(stage: Stage, chat_id: int, text: str) -> Seen:
    return await stage.shows(chat_id, text)


async def test_formats_go_both_ways(held: Stage) -> None:
    bold = [{"type": "bold", "offset": 0, "length": 4}]
    for sender, reader in ((USER, OWNER), (OWNER, USER)):
        held.telegram.user_sends(sender, f"bold of {sender}", entities=bold)
        seen = await relayed(held, reader, f"bold of {sender}")
        assert list(seen.entities) == bold


async def test_a_reply_answers_the_same_message_on_the_other_side(held: Stage) -> None:
    asked = held.telegram.user_sends(USER, "Which one?")[0]
    copy = await relayed(held, OWNER, "Which one?")
    held.telegram.user_sends(OWNER, "The red one", reply_to=copy.message_id)
    answer = await relayed(held, USER, "The red one")
    assert answer.reply_to == asked.id
    held.telegram.user_sends(USER, "Thanks", reply_to=answer.message_id)
    thanks = await relayed(held, OWNER, "Thanks")
    own = [each for each in held.telegram.messages(OWNER) if each.text == "The red one"]
    assert thanks.reply_to == own[0].message_id


async def test_edits_go_both_ways_also_before_the_message_has_left(held: Stage) -> None:
    for sender, reader in ((USER, OWNER), (OWNER, USER)):
        said = held.telegram.user_sends(sender, f"tpyo of {sender}")[0]
        held.telegram.user_edits(sender, said.id, f"typo of {sender}")
        await relayed(held, reader, f"typo of {sender}")
        assert held.count(reader, f"tpyo of {sender}") == 0


async def test_an_album_arrives_as_one_and_its_caption_is_edited(held: Stage) -> None:
    for sender, reader in ((USER, OWNER), (OWNER, USER)):
        words = f"look {sender}"
        album = held.telegram.user_sends_album(sender, ("photo", "video"), caption=words)
        photo = await relayed(held, reader, words)
        parts = [m for m in held.from_bot(reader) if m.media_group_id == photo.media_group_id]
        assert [part.kind for part in parts] == ["photo", "video"]
        assert photo.media_group_id
        held.telegram.user_edits(sender, album[0].id, f"see {sender}")
        await relayed(held, reader, f"see {sender}")


async def test_voice_stickers_and_places_are_copied(held: Stage) -> None:
    for kind in ("voice", "sticker", "location", "video_note", "document"):
        held.telegram.user_sends_media(USER, kind)
        await held.until(
            lambda kind=kind: any(m.kind == kind for m in held.from_bot(OWNER)) or None  # type: ignore[misc]
        )


async def test_reactions_go_both_ways_and_can_be_taken_back(held: Stage) -> None:
    asked = held.telegram.user_sends(USER, "Is it good?")[0]
    copy = await relayed(held, OWNER, "Is it good?")
    held.telegram.user_reacts(OWNER, copy.message_id, "👍")
    await held.until(lambda: _reactions(held, USER, asked.id) == ["👍"] or None)
    held.telegram.user_reacts(OWNER, copy.message_id, "")
    await held.until(lambda: _reactions(held, USER, asked.id) == [] or None)
    held.telegram.user_sends(OWNER, "Very good")
    answer = await relayed(held, USER, "Very good")
    own = next(m for m in held.telegram.messages(OWNER) if m.text == "Very good")
    held.telegram.user_reacts(USER, answer.message_id, "🔥")
    await held.until(lambda: _reactions(held, OWNER, own.message_id) == ["🔥"] or None)


async def test_what_cannot_be_copied_is_told_to_both_at_once(held: Stage) -> None:
    odd = Fault(Harm.REFUSE, method="copyMessage", description="Bad Request: can't be copied")
    held.telegram.faults.add(odd)
    held.telegram.user_sends_media(USER, "voice")
    await held.shows(OWNER, "a voice message")
    await held.shows(USER, "could not pass your voice message on")


async def test_an_edit_of_somebody_who_holds_nothing_changes_nothing(held: Stage) -> None:
    said = held.telegram.user_sends(OWNER, "first")[0]
    await relayed(held, USER, "first")
    held.telegram.user_sends(OWNER, "/release")
    await held.state(USER, "consent_required")
    held.telegram.user_edits(OWNER, said.id, "second")
    await held.everything_so_far(OWNER)
    assert held.count(USER, "second") == 0


async def test_an_edit_that_comes_late_does_not_have_the_last_word(on_stage: Stage) -> None:
    """Its connection broke, so it was made again; then the lost request arrives after all."""
    parts = Parts(idle_seconds=0.05, hurries=True)
    async with on_stage.bot(parts=parts, telegram_late_seconds=1.5):
        on_stage.telegram.user_sends(USER, "/human")
        await on_stage.state(USER, "handoff_pending")
        on_stage.telegram.user_sends(OWNER, "/claim")
        await on_stage.shows(USER, "is here now")
        said = on_stage.telegram.user_sends(USER, "at 6")[0]
        shown = await relayed(on_stage, OWNER, "at 6")
        on_stage.telegram.faults.add(Fault(Harm.CUT_BEFORE, method="editMessageText"))
        on_stage.telegram.user_edits(USER, said.id, "at 7")
        await relayed(on_stage, OWNER, "at 7")
        on_stage.telegram.user_edits(USER, said.id, "at 8")
        await relayed(on_stage, OWNER, "at 8")
        await _edits_late(on_stage, OWNER, shown.message_id, "at 7")
        await relayed(on_stage, OWNER, "at 8")


async def _edits_late(stage: Stage, chat_id: int, message_id: int, text: str) -> None:
    url = f"{stage.settings.telegram_api_url}/bot{LAB_TOKEN}/editMessageText"
    body = {"chat_id": chat_id, "message_id": message_id, "text": text}
    async with httpx.AsyncClient() as client:
        assert (await client.post(url, json=body)).json()["ok"]
    await stage.shows(chat_id, text)


def _reactions(stage: Stage, chat_id: int, message_id: int) -> list[str]:
    given = stage.telegram.message(chat_id, message_id).reactions.get(stage.telegram.bot.id, [])
    return [each["emoji"] for each in given]
