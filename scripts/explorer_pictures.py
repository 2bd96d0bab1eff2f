"""Take the pictures of the explorer that docs/app.md and the README show. Needs the extra `page`, and chromium.

mmcc kitchen kitchen --videos 24
mmcc ingest kitchen -o kitchen.corpus
python -m scripts.explorer_pictures kitchen.corpus docs
"""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Page, ViewportSize, sync_playwright

SIZE: ViewportSize = {"width": 1280, "height": 900}
VIDEO = "kitchen0-00003"
WALK = 11  # seconds: a bowl before the flour, one of the few moments from which a walk goes far and comes back
MOMENT = 73  # the frame of the batter, to ask what comes next
STEPS = "add flour\nwhisk mixture\nput the cake in the oven\ntake the cake out\ncut strawberries\nspread cream on cake"
MARKED = 9, 106.0, 121.0  # the key of a step, when it begins, and where the player is by then
RESTS = "document.querySelector('video').readyState >= 2 && !document.querySelector('video').seeking"
COLOURS = 256  # few enough for 200 KB a picture


def main(corpus: Path, out: Path) -> None:
    words = ["-m", "mmcc", "serve", "kitchen", str(corpus), "--port", "0"]
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        take(server.stdout.readline().strip(), out)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def take(address: str, out: Path, video: str = VIDEO) -> None:
    """The three pictures, from a server that shows this video."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, reduced_motion="reduce", color_scheme="light")
        page.set_default_timeout(600_000)  # the library is embedded first
        found = page.request.get(f"{address}api/v1/videos", params={"q": video}).json()["videos"]
        key = found[0]["id"]
        page.goto(f"{address}#/video/{key}?t={WALK}")
        page.locator(".walks .station").first.wait_for()
        _keep(page, ".walks section:first-child", out / "explorer.png")
        page.goto(f"{address}#/next?video={key}&frame={MOMENT}")
        page.locator(".hit").first.wait_for()
        page.locator("#own-steps").fill(STEPS)
        page.locator(".ranked").first.wait_for()
        page.evaluate("document.activeElement.blur()")
        _keep(page, ".answer .section:first-of-type", out / "explorer-next.png")
        page.goto(f"{address}#/mark/{key}")
        step, begins, now = MARKED
        page.locator(".step-key").first.wait_for()
        _play_to(page, begins)
        page.keyboard.press(str(step))
        _play_to(page, now)
        _keep(page, ".timeline", out / "explorer-marks.png")
        browser.close()


def _play_to(page: Page, seconds: float) -> None:
    _until(page, RESTS)
    page.evaluate(f"document.querySelector('video').currentTime = {seconds}")
    _until(page, f"{RESTS} && document.querySelector('video').currentTime >= {seconds}")


def _keep(page: Page, last: str, path: Path) -> None:
    """The page from its top to the end of an element, once its pictures are there."""
    page.locator(last).scroll_into_view_if_needed()  # pictures out of sight are loaded when they come near
    _until(page, "[...document.images].every((image) => image.naturalWidth || image.loading === 'lazy')")
    _until(page, f"[...document.querySelectorAll('{last} img')].every((image) => image.naturalWidth)")
    _until(page, f"!document.querySelector('video') || {RESTS}")
    page.evaluate("scrollTo(0, 0)")
    box = page.locator(last).bounding_box()
    assert box is not None
    clip: FloatRect = {"x": 0, "y": 0, "width": SIZE["width"], "height": round(box["y"] + box["height"] + 16)}
    taken = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
    taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _until(page: Page, expression: str) -> None:
    """Wait for it; the page's security policy forbids Playwright's own way."""
    for _ in range(1200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(f"never true: {expression}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
