"""The page on a phone, without a mouse, and in calm."""

import pytest
from playwright.async_api import ViewportSize, expect

from tests.browser.scene import PATIENCE, Scene

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const at = document.activeElement;
  return at.matches("button, textarea, g") ? `${at.textContent}|${at.id}` : "";
}"""


@pytest.mark.parametrize("viewport", [ViewportSize(width=360, height=700)])
async def test_a_narrow_screen_shows_one_part_at_a_time(scene: Scene) -> None:
    sideways = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
    panels = scene.page.locator("main .panel")
    for name, heading in {
        "Phone": "user",
        "Group": "desk",
        "Timeline": "timeline",
        "Memory": "memory",
        "Faults": "faults",
    }.items():
        await scene.page.get_by_role("tab", name=name).click()
        shown = [await each.get_attribute("id") for each in await panels.all()]
        visible = [
            each
            for each, panel in zip(shown, await panels.all(), strict=True)
            if await panel.is_visible()
        ]
        assert visible == [heading]
        assert await scene.page.evaluate(sideways) == 0


@pytest.mark.parametrize("viewport", [ViewportSize(width=360, height=700)])
async def test_on_a_narrow_screen_one_can_talk_and_look(scene: Scene) -> None:
    await scene.user.get_by_role("button", name="Start the AI assistant").click()
    await scene.write("Hello")
    await scene.shows(scene.answers)
    await scene.page.get_by_role("tab", name="Timeline").click()
    await scene.event("reply arrived")
    entry = scene.page.locator("#diagram .entry").last
    await entry.click()
    await expect(scene.page.locator("#detail")).to_contain_text("client message id")


async def test_everything_can_be_done_from_the_keyboard(scene: Scene) -> None:
    await tab_to(scene, "Start the AI assistant")
    assert await outlined(scene)
    await scene.page.keyboard.press("Enter")
    await scene.state("ai_ready")
    await tab_to(scene, "|user-input")
    assert await outlined(scene)
    await scene.page.keyboard.type("Hello")
    await scene.page.keyboard.press("Enter")
    await scene.shows(scene.answers)
    await scene.page.keyboard.press("ArrowUp")
    await expect(scene.user.get_by_role("textbox")).to_have_value("Hello")
    await scene.page.keyboard.press("Escape")
    await tab_to(scene, "reply arrived")
    await expect(scene.page.locator("#detail")).to_contain_text("Delivered")
    await scene.page.keyboard.press("ArrowUp")
    await expect(scene.page.locator("#detail")).to_contain_text("DraftApproved")
    await tab_to(scene, "Slow model")
    await scene.page.keyboard.press("Space")
    switch = scene.page.get_by_role("switch", name="Slow model")
    await expect(switch).to_have_attribute("aria-checked", "true")


async def test_shift_and_enter_begin_a_new_line(scene: Scene) -> None:
    await scene.start_ai()
    box = scene.user.get_by_role("textbox")
    await box.press_sequentially("one")
    await box.press("Shift+Enter")
    await box.press_sequentially("two")
    await box.press("Enter")
    await expect(scene.user.locator(".message.mine").last.locator("p")).to_have_text(["one", "two"])


async def test_nothing_moves_for_those_who_asked_for_calm(scene: Scene) -> None:
    await scene.page.emulate_media(reduced_motion="reduce")
    await scene.start_ai()
    await scene.write("Hello")
    await expect(scene.answers).to_have_count(1, timeout=PATIENCE)
    assert await scene.page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_words_stand_out_from_their_ground(scene: Scene, scheme: str) -> None:
    await scene.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    faint = await scene.page.evaluate(CONTRAST)
    assert faint == []


async def tab_to(scene: Scene, words: str) -> None:
    """Press Tab until what has these words has the focus."""
    for _ in range(80):
        await scene.page.keyboard.press("Tab")
        if words in await scene.page.evaluate(FOCUSED):
            return
    raise AssertionError(f"Tab never comes to {words!r}")


async def outlined(scene: Scene) -> bool:
    style = "getComputedStyle(document.activeElement).outlineStyle"
    return bool(await scene.page.evaluate(style) != "none")


# Every text that is shown against what lies behind it; WCAG's 4.5, 3 for large or bold labels.
CONTRAST = """() => {
  const numbers = colour => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("h1, h2, p, b, small, button, span, dt, dd")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(".hidden-words, :disabled")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(numbers(style.color)), light(behind(element))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.4) faint.push(`${element.textContent.trim()} ${style.color}`);
  }
  return faint;
}"""
