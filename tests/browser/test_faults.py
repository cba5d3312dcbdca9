"""Each switch does what it says, and what it broke is well again when it is switched off."""

import pytest
from playwright.async_api import expect

from tests.browser.scene import PATIENCE, Scene

pytestmark = pytest.mark.browser


async def test_a_slow_model_shows_that_it_works_and_can_be_cancelled(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("Slow model")
    await scene.write("Hello")
    await expect(scene.user.locator(".typing")).to_be_visible(timeout=PATIENCE)
    cancel = scene.user.get_by_role("button", name="Cancel", exact=True)
    await cancel.click(timeout=PATIENCE)
    await scene.event("cancels")
    await scene.shows(cancel, 0)
    await scene.shows(scene.answers, 0)
    await scene.throw("Slow model", on=False)
    await scene.write("And now?")
    await scene.shows(scene.answers)


async def test_with_the_model_down_the_user_is_told(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("Model down")
    await scene.write("Hello")
    await scene.event("no draft")
    await scene.shows(scene.says(scene.user, "I cannot reach the assistant"))
    await scene.throw("Model down", on=False)
    await scene.write("Hello again")
    await scene.shows(scene.answers)


async def test_with_moderation_down_no_draft_is_shown_and_a_person_is_asked_for(
    scene: Scene,
) -> None:
    await scene.start_ai()
    await scene.throw("Moderation down")
    await scene.write("Hello")
    await scene.event("check out of reach")
    await scene.state("handoff_pending")
    await scene.shows(scene.desk.get_by_role("button", name="Take", exact=True))
    await scene.shows(scene.answers, 0)


async def test_a_send_that_timed_out_is_proven_and_not_repeated(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("Send times out")
    await scene.write("Hello")
    await scene.event("did it arrive")
    await scene.event("proven: it arrived")
    await scene.shows(scene.answers)
    used = scene.page.get_by_role("switch", name="Send times out")
    await expect(used).to_have_attribute("aria-checked", "false")


async def test_with_the_network_cut_messages_wait(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("Network cut")
    await scene.write("Hello")
    await expect(scene.page.locator("#engine-state")).to_contain_text("not listening")
    await scene.shows(scene.answers, 0)
    await scene.throw("Network cut", on=False)
    await scene.shows(scene.answers)


async def test_a_flood_wait_stops_one_chat_only(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("Flood wait (429)")
    await scene.write("Hello")
    await scene.state("bot_sending")
    await scene.choose("لیلا")
    await scene.start_ai("شروع دستیار هوش مصنوعی")
    await scene.write("سلام")
    await scene.shows(scene.answers)
    await scene.choose("Sam")
    await scene.shows(scene.answers, 0)
    await scene.throw("Flood wait (429)", on=False)
    await scene.shows(scene.answers)


async def test_a_user_who_blocks_the_bot_is_recorded_and_may_come_back(scene: Scene) -> None:
    await scene.start_ai()
    await scene.throw("User blocks the bot")
    await scene.event("blocked the bot")
    await expect(scene.user.get_by_role("textbox")).to_be_hidden()
    await scene.user.get_by_role("button", name="Unblock the bot").click()
    switch = scene.page.get_by_role("switch", name="User blocks the bot")
    await expect(switch).to_have_attribute("aria-checked", "false")
    await scene.write("/start")
    await scene.event("presses Start", 2)


async def test_a_memory_that_answers_empty_is_not_believed(scene: Scene) -> None:
    await scene.start_ai()
    await scene.write("/remember My sister is called Leila")
    fact = scene.page.locator('.line[data-state="visible"]').filter(has_text="Leila")
    await scene.shows(fact)
    await scene.throw("Memory lies")
    await scene.write("/memory")
    await scene.shows(scene.says(scene.user, "I cannot read my memory at the moment"))
    await scene.shows(scene.says(scene.user, "I do not remember anything yet"), 0)
    await scene.throw("Memory lies", on=False)
    await scene.write("/memory")
    await scene.shows(scene.says(scene.user, "This is what I remember"))


async def test_a_bot_killed_in_mid_answer_answers_once_after_its_restart(scene: Scene) -> None:
    await scene.start_ai()
    scene.demo.model.hold()
    await scene.write("Who are you?")
    await scene.demo.model.until_asked()
    await scene.page.get_by_role("button", name="Kill the bot").click()
    await expect(scene.page.locator("#engine-state")).to_have_text("killed")
    assert scene.demo.bot.pid is None
    scene.demo.model.release()
    await scene.page.get_by_role("button", name="Start the bot").click()
    await scene.event("reply arrived")
    await scene.shows(scene.answers)
    await expect(scene.page.locator("#diagram .moment")).to_have_text(
        ["the bot is killed", "the bot is started"]
    )
