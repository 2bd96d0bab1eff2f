"""A browser on the real server, for the tests of the page. Nothing here runs where there is no browser."""

import shutil
import socket
from collections.abc import Callable, Iterator
from threading import Thread

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from mmcc.app.explorer import Explorer
from mmcc.app.server import create_app

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def address(explorer: Explorer) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    # Its end must not close the explorer, which other tests share.
    server = uvicorn.Server(uvicorn.Config(create_app(explorer), log_level="error", lifespan="off", ws="none"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--mute-audio"]
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield found
        found.close()


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """open_page("#/next", width=380): a page whose console must stay clean, of what breaks the security policy, too."""
    contexts, complaints = [], []

    def visit(
        place: str = "#/", *, width: int = 1280, theme: str = "light", may_fail: bool = False, before=lambda page: None
    ) -> Page:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if not may_fail:
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        before(page)
        page.goto(address + place)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints


def walked(page: Page) -> Page:
    """Wait until a walk is drawn."""
    page.locator(".lane-upper .arc.out, .lane-lower .arc.out").first.wait_for(state="attached")
    page.locator(".timeline:not([aria-busy])").wait_for()
    return page


def until(page: Page, expression: str) -> None:
    """Wait for it. (Playwright's own way is `eval` in the page, which the security policy forbids, as it should.)"""
    for _ in range(1200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {expression}")
