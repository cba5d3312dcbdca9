"""The demo's page in a real browser, and the ways in which a person looks at it."""

import re
from dataclasses import dataclass, field

from playwright.async_api import Locator, Page, expect

from bot.lab.page.server import Demo

PATIENCE = 20_000  # milliseconds


@dataclass(slots=True)
class Scene:
    """One open page. `asked` is every address it loaded, `complaints` what its console said."""

    page: Page
    demo: Demo
    address: str
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def user(self) -> Locator:
        return self.page.locator('[data-phone="user"]')

    @property
    def desk(self) -> Locator:
        return self.page.locator('[data-phone="desk"]')

    @property
    def answers(self) -> Locator:
        """What the AI said on the user's phone, and nothing else."""
        return self.user.locator('.message[data-by="ai"]')

    def says(self, phone: Locator, words: str) -> Locator:
        return phone.locator(".message").filter(has_text=words)

    async def start_ai(self, words: str = "Start the AI assistant") -> None:
        await self.user.get_by_role("button", name=words).first.click()
        await self.state("ai_ready")

    async def choose(self, name: str) -> None:
        await self.page.get_by_role("radio", name=name).click()

    async def write(self, words: str, *, phone: Locator | None = None) -> None:
        field = (phone or self.user).get_by_role("textbox")
        await field.fill(words)
        await field.press("Enter")

    async def state(self, state: str) -> None:
        """Wait until the conversation on the user's phone is in this state."""
        await expect(self.page.locator("#now .fact.state b")).to_have_text(state, timeout=PATIENCE)

    async def event(self, words: str, times: int = 1) -> None:
        """Wait until the timeline shows it, and so often."""
        rows = self.page.locator("#diagram .entry").filter(has_text=re.compile(words))
        await expect(rows).to_have_count(times, timeout=PATIENCE)

    async def throw(self, switch: str, *, on: bool = True) -> None:
        handle = self.page.get_by_role("switch", name=switch)
        await expect(handle).to_have_attribute("aria-checked", "false" if on else "true")
        await handle.click()
        await expect(handle).to_have_attribute("aria-checked", "true" if on else "false")

    async def shows(self, where: Locator, count: int = 1) -> None:
        await expect(where).to_have_count(count, timeout=PATIENCE)
