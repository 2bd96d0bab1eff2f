"""A browser on the real server, for the tests of the page. Nothing here runs where there is no browser."""

import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
Open = Callable[..., Page]
T = TypeVar("T")


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
        place: str = "#/",
        *,
        width: int = 1280,
        theme: str = "light",
        touch: bool = False,
        may_fail: bool = False,
        before=lambda page: None,
    ) -> Page:
        size = {"width": width, "height": 900}
        context = browser.new_context(
            viewport=size, color_scheme=theme, reduced_motion="reduce", has_touch=touch, is_mobile=touch
        )
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
    """Wait until a view that is new has drawn its first walk."""
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


def becomes(page: Page, read: Callable[[Page], T], expected: T) -> None:
    """Wait until what is read from the page is what is expected."""
    for _ in range(1200):
        if read(page) == expected:
            return
        page.wait_for_timeout(50)
    assert read(page) == expected


def drag_by_finger(page: Page, *way: tuple[float, float]) -> None:
    """A finger goes down at the first place, moves along the rest, and is lifted at the last."""
    screen = page.context.new_cdp_session(page)

    def send(kind: str, *at: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in at]
        screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", way[0])
    for (x, y), (then_x, then_y) in pairwise(way):
        for step in range(1, 11):
            send("touchMove", (x + (then_x - x) * step / 10, y + (then_y - y) * step / 10))
    send("touchEnd")
    screen.detach()


def middle(page: Page, place: str, nth: int = 0) -> tuple[float, float]:
    """Of an element, on the screen."""
    page.locator(place).nth(nth).scroll_into_view_if_needed()
    box = page.locator(place).nth(nth).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
