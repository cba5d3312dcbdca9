from collections.abc import AsyncIterator

import pytest
from playwright.async_api import ViewportSize, async_playwright

from bot.lab.page.server import build_app
from bot.lab.page.show import opened
from bot.lab.serve import serve
from tests.browser.scene import Scene
from tests.chromium import ARGUMENTS, chromium

LAPTOP = ViewportSize(width=1440, height=900)


@pytest.fixture
def viewport() -> ViewportSize:
    return LAPTOP


@pytest.fixture
async def scene(viewport: ViewportSize) -> AsyncIterator[Scene]:
    """A demo of its own for each test, open in a browser. Nothing may be loaded from elsewhere."""
    async with opened() as demo, serve(build_app(demo)) as address, async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = await browser.new_page(viewport=viewport)
        ready = Scene(page, demo, address)
        page.on("request", lambda request: ready.asked.append(request.url))
        page.on("console", lambda said: ready.complaints.append(said.text))
        page.on("pageerror", lambda error: ready.complaints.append(str(error)))
        await page.goto(address)
        await page.get_by_text("Please choose").first.wait_for()
        yield ready
        await browser.close()
    assert not ready.complaints
    assert all(url.startswith(address) for url in ready.asked)
