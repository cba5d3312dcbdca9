"""Who may talk to the bot, who commands it, and how the owner is learnt."""

from bot.cli import owner_code
from tests.stage import OWNER, USER, Stage

STRANGER, FRIEND, OPERATOR = 66, 77, 1001
POLITE = "This bot is private"


async def test_only_the_owner_is_let_in_by_default(on_stage: Stage) -> None:
    async with on_stage.bot(access="owner"):
        for text in ("Let me in", "/start", "/help", "/human", "Please?"):
            on_stage.telegram.user_sends(STRANGER, text)
        on_stage.telegram.user_sends_media(STRANGER, "photo")
        on_stage.telegram.user_starts(OWNER)
        await on_stage.shows(OWNER, "assistant")
        await on_stage.shows(STRANGER, POLITE)
        await on_stage.everything_so_far(OWNER)
        assert len(on_stage.from_bot(STRANGER)) == 1
        for table in ("messages", "conversations"):
            rows = await on_stage.rows(f"SELECT * FROM {table} WHERE chat_id = {STRANGER}")
            assert rows == [], "nothing of a stranger is kept"


async def test_a_stranger_is_told_once_also_after_a_restart(on_stage: Stage) -> None:
    for _ in range(2):
        async with on_stage.bot(access="owner"):
            on_stage.telegram.user_sends(STRANGER, "Let me in")
            on_stage.telegram.user_sends(OWNER, "/queue")
            await on_stage.shows(OWNER, "Nobody is waiting")
            await on_stage.shows(STRANGER, POLITE)
    assert len(on_stage.from_bot(STRANGER)) == 1


async def test_a_list_lets_in_who_is_on_it_and_the_owner(on_stage: Stage) -> None:
    async with on_stage.bot(access=frozenset({FRIEND})):
        for chat_id in (FRIEND, OWNER, STRANGER):
            on_stage.telegram.user_starts(chat_id)
        for chat_id in (FRIEND, OWNER):
            await on_stage.shows(chat_id, "AI assistant")
        await on_stage.shows(STRANGER, POLITE)


async def test_buttons_are_checked_like_messages(on_stage: Stage) -> None:
    async with on_stage.bot():
        on_stage.telegram.user_starts(STRANGER)
        notice = await on_stage.shows(STRANGER, "assistant")
    async with on_stage.bot(access="owner"):
        presses = [
            on_stage.telegram.user_presses(STRANGER, notice.message_id, label)
            for label in ("Start the AI assistant", "Talk to a person")
        ]
        await on_stage.until(lambda: all(press.answered for press in presses) or None)
        assert all(POLITE in press.text for press in presses)
        assert (await on_stage.conversation(STRANGER)).state == "consent_required"


async def test_somebody_who_lost_access_gets_no_more_answers(on_stage: Stage) -> None:
    async with on_stage.bot():
        await on_stage.start_ai()
    async with on_stage.bot(access="owner"):
        on_stage.telegram.user_sends(USER, "Still there?")
        await on_stage.shows(USER, POLITE)
        assert on_stage.model.requests == []


async def test_the_link_of_setup_makes_its_opener_the_owner_once(on_stage: Stage) -> None:
    code = owner_code.issue(on_stage.settings.data_directory)
    async with on_stage.bot(owner_id=None, access="owner"):
        on_stage.telegram.user_starts(STRANGER, "wrong-code")
        await on_stage.shows(STRANGER, POLITE)
        on_stage.telegram.user_starts(USER, code)
        await on_stage.shows(USER, "you are its owner")
        await on_stage.shows(USER, "Nobody has read it yet")
        on_stage.telegram.user_sends(USER, "/queue")
        await on_stage.shows(USER, "Nobody is waiting")
        on_stage.telegram.user_starts(FRIEND, code)
        await on_stage.shows(FRIEND, POLITE)
        assert await on_stage.rows("SELECT value FROM meta WHERE key = 'owner_id'") == [
            (str(USER),)
        ]
    async with on_stage.bot(owner_id=None, access="owner"):
        on_stage.telegram.user_sends(USER, "/queue")
        await on_stage.shows(USER, "Nobody is waiting", times=2)


async def test_a_new_owner_finds_the_owners_commands_in_the_menu(on_stage: Stage) -> None:
    code = owner_code.issue(on_stage.settings.data_directory)
    async with on_stage.bot(owner_id=None, access="owner"):
        on_stage.telegram.user_starts(USER, code)
        await on_stage.shows(USER, "you are its owner")
        await on_stage.until(lambda: "claim" in menu_of(on_stage, USER) or None)


def menu_of(stage: Stage, chat_id: int, language: str = "") -> set[str]:
    """What the app shows beside the input field of this chat."""
    for (scope, code), commands in stage.telegram.commands.items():
        if str(chat_id) in scope and code == language:
            return {command["command"] for command in commands}
    return set()


async def test_the_link_in_a_group_or_in_an_edit_makes_nobody_the_owner(on_stage: Stage) -> None:
    code = owner_code.issue(on_stage.settings.data_directory)
    world = on_stage.telegram
    group = world.create_group("Family", STRANGER)
    async with on_stage.bot(owner_id=None, access="owner"):
        world.add_bot(group.id, STRANGER, rights=["can_delete_messages"])
        world.user_sends(group.id, f"/start {code}", user_id=STRANGER)
        [message] = world.user_sends(STRANGER, "Hello")
        world.user_edits(STRANGER, message.id, f"/start {code}")
        world.user_starts(USER, code)
        await on_stage.shows(USER, "you are its owner")
        assert on_stage.count(STRANGER, "owner") == 0


async def test_operators_commands_and_buttons_are_refused_to_others(live: Stage) -> None:
    live.telegram.user_sends(FRIEND, "/human")
    await live.state(FRIEND, "handoff_pending")
    for command in ("/queue", f"/claim {FRIEND}", "/release"):
        live.telegram.user_sends(USER, command)
    await live.shows(USER, "for operators only", times=3)
    notice = live.from_bot(USER)[0]
    press = live.telegram.user_forges_press(USER, notice.message_id, f"v1:claim:tg:{FRIEND}")
    await live.until(lambda: press.answered or None)
    assert press.text == "This button is no longer in use."
    assert (await live.conversation(FRIEND)).state == "handoff_pending"
    assert "/queue" not in " ".join(seen.text for seen in live.from_bot(USER))


async def test_operators_of_the_list_may_do_what_the_owner_may(on_stage: Stage) -> None:
    async with on_stage.bot(access="owner", operators=frozenset({OPERATOR})):
        on_stage.telegram.user_sends(OWNER, "/human")
        await on_stage.state(OWNER, "handoff_pending")
        on_stage.telegram.user_sends(OPERATOR, "/claim")
        await on_stage.state(OWNER, "human_active")
        on_stage.telegram.user_sends(OPERATOR, "Hello, boss.")
        await on_stage.shows(OWNER, "Hello, boss.")
        on_stage.telegram.user_sends(OPERATOR, "/help")
        await on_stage.shows(OPERATOR, "/claim")


async def test_nobody_takes_their_own_conversation_over(live: Stage) -> None:
    live.telegram.user_sends(OWNER, "/human")
    await live.state(OWNER, "handoff_pending")
    live.telegram.user_sends(OWNER, f"/claim {OWNER}")
    live.telegram.user_sends(OWNER, "/claim")
    await live.shows(OWNER, "Nobody is waiting")
    assert (await live.conversation(OWNER)).state == "handoff_pending"
