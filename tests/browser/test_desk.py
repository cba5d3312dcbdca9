"""The operators' group on the page: two people, their topics, and the AI as their help."""

import pytest
from playwright.async_api import ViewportSize, expect

from bot.lab.page.people import GROUP_ID
from tests.browser.scene import PATIENCE, Scene

pytestmark = pytest.mark.browser


async def take_sam(scene: Scene) -> None:
    """Sam talks to the AI and is answered; then Nora takes the conversation."""
    await scene.start_ai()
    await scene.write("Where is my order?")
    await scene.shows(scene.answers)
    await scene.state("ai_ready")
    await scene.desk.get_by_role("button", name="Take Sam’s conversation").click()
    await scene.state("human_active")


async def test_each_operator_sees_the_group_with_their_own_eyes(scene: Scene) -> None:
    await scene.page.get_by_role("radio", name="General").click()
    await scene.write("Who is here today?", phone=scene.desk)
    mine = scene.desk.locator(".message.mine")
    await scene.shows(mine)
    await scene.page.get_by_role("radio", name="Omid").click()
    theirs = scene.desk.locator(".message.theirs").filter(has_text="Who is here today?")
    await scene.shows(theirs)
    await expect(theirs.locator(".by")).to_have_text("Nora")
    await theirs.hover()
    await theirs.get_by_role("button", name="Reply").click()
    await scene.write("I am.", phone=scene.desk)
    await scene.shows(mine)
    await expect(mine.locator(".quote")).to_have_text("Who is here today?")
    said = scene.demo.telegram.messages(GROUP_ID)[-1]
    assert (said.author, said.text) == ("user:104", "I am.")


async def test_operators_and_topics_are_walked_with_the_arrow_keys(scene: Scene) -> None:
    await scene.page.get_by_role("radio", name="Nora", exact=False).first.focus()
    await scene.page.keyboard.press("ArrowRight")
    omid = scene.page.get_by_role("radio", name="Omid").first
    await expect(omid).to_have_attribute("aria-checked", "true")
    await expect(omid).to_be_focused()
    await scene.page.get_by_role("radio", name="Omid and the bot, in private").focus()
    await scene.page.keyboard.press("ArrowUp")
    general = scene.page.get_by_role("radio", name="General")
    await expect(general).to_have_attribute("aria-checked", "true")
    await expect(scene.desk.get_by_role("textbox")).to_be_visible()


async def test_a_draft_is_sent_by_a_person_and_once(scene: Scene) -> None:
    await take_sam(scene)
    await scene.write("/draft", phone=scene.desk)
    draft = scene.says(scene.desk, "A draft by the assistant, not sent")
    await scene.shows(draft)
    words = "Thank you for your message"
    await expect(draft).to_contain_text(words)
    await scene.shows(scene.says(scene.user, words), 0)
    await draft.get_by_role("button", name="Send", exact=True).click()
    sent = scene.says(scene.user, words)
    await scene.shows(sent)
    await expect(sent).to_have_attribute("data-by", "human")
    await scene.shows(scene.says(scene.desk, "Sent by Nora"))


async def test_replying_to_a_draft_sends_other_words(scene: Scene) -> None:
    await take_sam(scene)
    await scene.write("/draft", phone=scene.desk)
    draft = scene.says(scene.desk, "A draft by the assistant, not sent")
    await draft.hover()
    await draft.get_by_role("button", name="Reply", exact=False).click()
    await scene.write("It arrives tomorrow.", phone=scene.desk)
    await scene.shows(scene.says(scene.user, "It arrives tomorrow."))
    await draft.get_by_role("button", name="Send", exact=True).click()
    toast = scene.page.locator(".toast").filter(has_text="An answer was sent already")
    await expect(toast).to_be_visible(timeout=PATIENCE)
    await scene.shows(scene.says(scene.user, "Thank you for your message"), 0)


async def test_persian_is_read_and_written_in_english(scene: Scene) -> None:
    await scene.choose("لیلا")
    await scene.write("/human")
    await scene.state("handoff_pending")
    await scene.desk.get_by_role("button", name="Take لیلا’s conversation").click()
    await scene.state("human_active")
    await scene.write("/translate", phone=scene.desk)
    await scene.user.get_by_role("button", name="ترجمه مجاز است").click(timeout=PATIENCE)
    await scene.shows(scene.says(scene.desk, "agrees: what they write is translated"))
    await scene.write("بسته‌ی من کجاست؟")
    await scene.shows(scene.says(scene.desk, "Where is my parcel?"))
    await scene.write("It arrives tomorrow.", phone=scene.desk)
    preview = scene.says(scene.desk, "Nothing is sent yet")
    await preview.get_by_role("button", name="Send", exact=True).click(timeout=PATIENCE)
    shown = scene.says(scene.user, "فردا می‌رسد")
    await scene.shows(shown)
    await expect(shown).to_contain_text("It arrives tomorrow.")


@pytest.mark.parametrize("viewport", [ViewportSize(width=360, height=700)])
async def test_on_a_narrow_screen_news_of_the_group_are_marked(scene: Scene) -> None:
    await scene.write("/human")
    tab = scene.page.get_by_role("tab", name="Group")
    await expect(tab).to_have_class("news", timeout=PATIENCE)
    await tab.click()
    await expect(tab).not_to_have_class("news")
    await scene.desk.get_by_role("button", name="Take", exact=True).click(timeout=PATIENCE)
    await scene.page.get_by_role("tab", name="Timeline").click()
    await scene.state("human_active")
