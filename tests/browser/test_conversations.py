"""What can be seen on the page when people talk."""

import pytest
from playwright.async_api import expect

from tests.browser.scene import Scene

pytestmark = pytest.mark.browser


async def test_a_fast_typist_gets_one_answer(scene: Scene) -> None:
    await scene.start_ai()
    for words in ("Hi", "one more thing", "who are you?"):
        await scene.write(words)
    await scene.event("reply arrived")
    await scene.shows(scene.answers)
    await expect(scene.answers).to_contain_text("You sent 3 messages")
    await scene.event("quiet: the turn begins")


async def test_a_person_takes_over_and_the_late_draft_never_shows(scene: Scene) -> None:
    await scene.start_ai()
    scene.demo.model.hold()
    await scene.write("Who are you?")
    await scene.state("ai_generating")
    await scene.demo.model.until_asked()
    await scene.desk.get_by_role("button", name="Take Sam’s conversation").click()
    await scene.state("human_active")
    await expect(scene.page.locator("#now .who")).to_contain_text("Nora")
    scene.demo.model.release()
    await scene.write("Here is Nora, a person.", phone=scene.desk)
    await scene.shows(scene.says(scene.user, "Here is Nora, a person."))
    await scene.write("Good to hear from you", phone=scene.user)
    await scene.shows(scene.says(scene.desk, "Good to hear from you"))
    await scene.shows(scene.answers, 0)
    await scene.event("reply arrived", 0)


async def test_a_persian_chat_runs_from_right_to_left(scene: Scene) -> None:
    await scene.choose("لیلا")
    await scene.start_ai("شروع دستیار هوش مصنوعی")
    await scene.write("سلام!")
    await scene.shows(scene.answers)
    await scene.write("Hello from the left")
    directions = "all => all.map(one => getComputedStyle(one).direction)"
    persian = await scene.answers.first.locator("p").evaluate_all(directions)
    assert set(persian) == {"rtl"}
    english = scene.says(scene.user, "Hello from the left").first.locator("p").first
    assert await english.evaluate("one => getComputedStyle(one).direction") == "ltr"


async def test_a_stranger_is_told_so_once(scene: Scene) -> None:
    await scene.choose("Max")
    await scene.write("Hello?")
    await scene.shows(scene.user.locator(".message.theirs"))
    await scene.write("Hello??")
    await scene.choose("Sam")
    await scene.write("/help")
    await scene.shows(scene.says(scene.user, "/stop_ai").first)
    await scene.choose("Max")
    await scene.shows(scene.user.locator(".message.mine"), 2)
    await scene.shows(scene.user.locator(".message.theirs"))


async def test_what_people_write_is_never_taken_for_markup(scene: Scene) -> None:
    await scene.start_ai()
    words = "<img src=x onerror=alert(1)><b>bold?</b>"
    await scene.write(words)
    await scene.shows(scene.answers)
    await expect(scene.user.locator(".message.mine").last.locator("p")).to_have_text(words)
    await scene.shows(scene.page.locator("main img"), 0)


async def test_formatting_becomes_elements(scene: Scene) -> None:
    await scene.start_ai()
    await scene.write("Say **bold** and `code` and [a link](https://example.org/x)")
    await scene.shows(scene.answers)
    reply = scene.answers.first
    await expect(reply.locator("b")).to_have_text("bold")
    await expect(reply.locator("code")).to_have_text("code")
    await expect(reply.locator("a")).to_have_attribute("href", "https://example.org/x")


async def test_memory_lines_become_visible(scene: Scene) -> None:
    await scene.start_ai()
    await scene.write("Remember that my sister is called Leila")
    fact = scene.page.locator(".line").filter(has=scene.page.locator(".kind-fact"))
    await scene.shows(fact)
    await expect(fact).not_to_have_attribute("data-state", "visible")
    await expect(fact).to_have_attribute("data-state", "visible", timeout=15_000)
    await expect(fact).to_contain_text("sister is called Leila")
