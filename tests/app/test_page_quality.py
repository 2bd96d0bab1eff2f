"""What holds for every view of the page: it fits a phone, all can use it, and what others wrote stays text."""

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")
pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra page)")

from playwright.sync_api import Page, Route

from tests.app import browsing
from tests.app.browsing import CHROMIUM, Open, until, walked

address, browser, open_page = browsing.address, browsing.browser, browsing.open_page  # fixtures
pytestmark = [
    pytest.mark.slow,  # a browser
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]

VIEWS = {  # and what is there once the view is complete
    "#/": ".card",
    "#/video/{video}?t=9": ".lane-upper .arc.out",
    "#/transitions?video={video}": ".pair",
    "#/next?video={video}&frame=3": ".given-figure",
    "#/unshuffle": ".drop",
    "#/compare?video={video}": ".lane-lower .arc.out",
    "#/mark/{video}": ".steps-list li",
}
HOSTILE = [
    f"<{tag} {event}=hacked()>{end}"
    for tag in ("script", "img src=x", "svg", "iframe srcdoc='<script>parent.hacked()</script>'", "video src=x")
    for event in ("onerror", "onload", "onclick", "style='x:expression(hacked())' on")
    for end in (
        "",
        "</script>",
        "\u202egnp.exe",
        "${hacked()}",
        "{{hacked()}}",
        "&lt;b&gt;",
        "javascript:hacked()",
        "x" * 400,
    )
] + [
    "'\"><script>hacked()</script>",
    "\x00\ufffe<plaintext>",
    "العربية <b>",
    "%3Cscript%3E",
    "]]><!--",
    "a\u0301" * 200,
] * 7


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core: the file that MMCC_AXE names, or the package from npm's registry."""
    if given := os.environ.get("MMCC_AXE"):
        return Path(given).read_text()
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(["npm", "pack", "axe-core@4"], cwd=folder, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("needs axe-core: npm, with a registry, or MMCC_AXE=axe.min.js")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page: Open, axe: str, video: str, theme: str):
    page = open_page(theme=theme)
    page.evaluate(axe)
    rules = "" if theme == "light" else ", runOnly: ['color-contrast']"  # nothing else depends on the theme
    found = {}
    for view, ready in VIEWS.items():
        page.evaluate(f"location.hash = {view.format(video=video)!r}")
        page.locator(ready).first.wait_for(state="attached")
        result = page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{rules}}})")
        bad = [each for each in result["violations"] if each["impact"] in ("serious", "critical")]
        found |= {f"{view} {each['id']}": [node["html"][:160] for node in each["nodes"][:3]] for each in bad}
    assert not found, json.dumps(found, indent=1)


def test_every_view_fits_a_phone(open_page: Open, video: str):
    page = open_page(width=380)
    for view, ready in VIEWS.items():
        page.evaluate(f"location.hash = {view.format(video=video)!r}")
        page.locator(ready).first.wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= 380, view


def test_what_others_wrote_is_shown_as_text(open_page: Open, video: str):
    assert len(HOSTILE) >= 200

    def poison(page: Page) -> None:
        """The real answers, with hostile titles, tasks, captions and steps."""

        def cards(route: Route) -> None:
            card = route.fetch().json()["videos"][0]
            route.fulfill(
                json={"total": len(HOSTILE), "videos": [card | {"title": text, "task": text} for text in HOSTILE]}
            )

        def details(route: Route) -> None:
            answer = route.fetch().json()
            said = [
                answer["utterances"][0] | {"index": n, "text": text, "start": n * 0.1} for n, text in enumerate(HOSTILE)
            ]
            steps = [answer["steps"][0] | {"text": text} for text in HOSTILE]
            route.fulfill(json=answer | {"title": HOSTILE[0], "task": HOSTILE[1], "utterances": said, "steps": steps})

        page.add_init_script("window.hacked = () => { window.wasHacked = true; };")
        page.route("**/api/v1/videos?*", cards)
        page.route(f"**/api/v1/videos/{video}", details)

    page = open_page(before=poison)
    until(page, f"document.querySelectorAll('.card').length === {len(HOSTILE)}")
    assert page.evaluate("[...document.querySelectorAll('.card-title')].map((each) => each.textContent)") == HOSTILE
    page.evaluate(f"location.hash = '#/video/{video}'")
    until(page, f"document.querySelectorAll('.transcript button').length === {len(HOSTILE)}")
    assert (
        page.evaluate("[...document.querySelectorAll('.transcript span')].map((each) => each.textContent)") == HOSTILE
    )
    assert page.evaluate("document.querySelector('h1').textContent") == HOSTILE[0]
    assert (
        page.evaluate("document.querySelectorAll('main script, main iframe, main [onerror], main [onload]').length")
        == 0
    )
    assert not page.evaluate("window.wasHacked")


def test_appearance_follows_the_system_until_somebody_chooses(open_page: Open):
    page = open_page(theme="dark")
    theme = "document.documentElement.dataset.theme"
    until(page, f"{theme} === 'dark'")
    page.locator("#theme").click()
    until(page, f"{theme} === 'light'")
    page.reload()
    until(page, f"{theme} === 'light'")


def test_a_library_can_be_browsed_by_keyboard_alone(open_page: Open):
    page = open_page()
    page.locator(".card").first.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips to the content
    until(page, "document.activeElement.id === 'main'")
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('card-link')"):
            break
    page.keyboard.press("Enter")
    page.locator(".tl-slider").wait_for(state="attached")
    walked(page)
