"""What holds for every view of the page: it fits a phone, all can use it, and what others wrote stays text."""

import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")
pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra page)")

from playwright.sync_api import Browser, Page, Route

from mmcc.app.server import open_explorer
from tests.app import browsing
from tests.app.browsing import CHROMIUM, Open, becomes, drag_by_finger, middle, until, walked
from tests.app.conftest import serving

browser, open_page = browsing.browser, browsing.open_page  # fixtures
pytestmark = [
    pytest.mark.slow,  # a browser
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]

VIEWS = {  # and what only this view has, once it is complete
    "#/": ".card",
    "#/video/{video}?t=9": ".lane-upper .arc.out",
    "#/transitions?video={video}": ".pair",
    "#/next?video={video}&frame=3": ".hit",
    "#/unshuffle": ".tray",
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


NAMES = [  # of files: what no name can have is the slash and NUL
    *(text.replace("/", "\u2215").replace("\x00", "")[:100] for text in HOSTILE),
    "../../../etc/passwd",
    "..\\..\\boot.ini",
    "line\nbreak\r\nand\ttab",
    "photo\u202egpj.exe",
    "\u2066isolated\u2069",
    "quotes \"'`",
    "con",
    "%2e%2e%2f",
    " ",
    "-rf *",
    "$(hacked)",
    "\U0001f469\u200d\U0001f373",
]


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


def test_names_of_files_are_shown_as_text(open_page: Open, photos: list[bytes]):
    """Of photos: as they are in the page, and harmless in the archive of numbered copies."""
    assert len(NAMES) >= 200
    page = open_page("#/unshuffle", before=lambda page: page.add_init_script("window.hacked = () => { hacks++ }"))
    for first in range(0, len(NAMES), 30):
        names = [f"{name}.jpg" for name in NAMES[first : first + 30]]
        files = [
            {"name": name, "mimeType": "image/jpeg", "buffer": photos[at % len(photos)]}
            for at, name in enumerate(names)
        ]
        page.locator("input[type=file]").set_input_files(files)
        until(page, "document.querySelector('#tray-help').hidden === false")
        text = "[...document.querySelectorAll('.photo-name')].map((each) => each.textContent)"
        shown = page.evaluate(text)
        given = page.evaluate("[...document.querySelectorAll('.photo')].map((each) => each.ariaLabel)")
        assert len(shown) == len(names) and {name[-12:] for name in shown} == {name[-12:] for name in names}
        assert all(label.endswith(name) for label, name in zip(given, shown, strict=True))
        with page.expect_download() as copies:
            page.get_by_role("button", name="Numbered copies").click()
        for name in zipfile.ZipFile(copies.value.path()).namelist():
            assert name.isprintable() and not set(name) & set('/\\:*?"<>|') and name[:2].isdigit()
        page.get_by_role("button", name="Clear").click()
    assert not page.evaluate("typeof hacks !== 'undefined'")
    assert page.evaluate("document.querySelectorAll('main script, main iframe, main [onerror]').length") == 0


def test_a_folder_of_hostile_names_can_be_browsed(browser: Browser, kitchen_footage, tmp_path, monkeypatch):
    """Of videos: from the disk through the API to the page."""
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "<b>videos"
    folder.mkdir()
    shortest = min(kitchen_footage.videos, key=lambda path: path.stat().st_size)
    for name in NAMES[:: len(NAMES) // 12] + NAMES[-12:]:
        shutil.copy(shortest, folder / f"{name.replace('/', '_')}.mp4")
    (folder / "outside.mp4").symlink_to("/etc/passwd")
    (folder / "loop.mp4").symlink_to(folder)
    explorer = open_explorer(str(kitchen_footage.run), folder)
    try:
        with serving(explorer) as address:
            page = browser.new_context().new_page()
            page.set_default_timeout(60_000)
            complaints = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            page.goto(address)
            until(page, f"document.querySelectorAll('.card').length === {len(explorer.library)}")
            assert page.locator("h1").inner_text() == "<b>videos"
            titles = page.evaluate("[...document.querySelectorAll('.card-title')].map((each) => each.textContent)")
            assert sorted(titles) == sorted(card.title for card in explorer.library.cards)
            assert not set("".join(titles)) & set("\n\r\t\u202e\u2066\u2069") and "outside" not in titles
            for card in explorer.library.cards:
                page.goto(f"{address}#/video/{card.key}")
                until(page, f"document.querySelector('h1')?.textContent === {json.dumps(card.title)}")
                walked(page)
            assert not complaints
    finally:
        explorer.close()


def photo_names(page: Page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('.photo-name')].map((each) => each.textContent)")


def test_a_finger_drags_photos_in_any_direction(open_page: Open, photos: list[bytes]):
    page = open_page("#/unshuffle", width=380, touch=True)
    given = [{"name": f"{n}.jpg", "mimeType": "image/jpeg", "buffer": photo} for n, photo in enumerate(photos)]
    page.locator("input[type=file]").set_input_files(given)
    until(page, "document.querySelector('#tray-help').hidden === false")
    before, scrolled = photo_names(page), page.evaluate("scrollY")
    third = middle(page, ".photo", 2)
    drag_by_finger(page, middle(page, ".grip", 1), third)
    after = [before[0], before[2], before[1], before[3]]
    becomes(page, photo_names, after)
    page.locator(".lifted").wait_for(state="detached")
    page.evaluate("scrollTo(0, 0)")
    x, y = middle(page, ".photo", 0)
    drag_by_finger(page, (x, y), (x, y - 150))  # beside the grip a finger scrolls, as everywhere
    until(page, f"scrollY > {scrolled}")
    assert photo_names(page) == after


def moment(page: Page, x: float) -> float:
    """The second of the video that the timeline has at this place of the screen."""
    box = page.locator(".tl-content").bounding_box()
    return (x - box["x"]) / box["width"] * page.evaluate("document.querySelector('video').duration")


def test_a_finger_drags_along_the_timeline(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=10", width=380, touch=True))
    x, y = middle(page, ".film")
    drag_by_finger(page, (x - 60, y), (x + 60, y))  # the walk follows
    there = moment(page, x + 60)
    assert there > 100  # as far as that from 0:10
    until(page, f"Math.abs(document.querySelector('.tl-slider').ariaValueNow - {there}) <= 1.5")  # its last move, too
    until(page, "location.hash.includes('t=') && !/t=10$/.test(location.hash)")
    start = page.locator(".tl-slider").get_attribute("aria-valuetext")
    axis = page.locator(".lane-axis").bounding_box()
    drag_by_finger(page, (axis["x"] + 200, axis["y"] + 12), (axis["x"] + 20, axis["y"] + 12))  # the player follows
    until(page, f"Math.abs(document.querySelector('video').currentTime - {moment(page, axis['x'] + 20)}) < 1.5")
    assert page.locator(".tl-slider").get_attribute("aria-valuetext") == start
    assert page.evaluate("getComputedStyle(document.querySelector('.lane-film')).touchAction") == "pan-y"
    page.locator("#zoom").fill("50")  # then a finger pans
    assert page.evaluate("getComputedStyle(document.querySelector('.lane-film')).touchAction") == "auto"
    x = middle(page, ".tl-scroll")[0]
    film = page.locator(".film").bounding_box()
    y = film["y"] + film["height"] / 2
    left = page.evaluate("document.querySelector('.tl-scroll').scrollLeft")
    drag_by_finger(page, (x + 80, y), (x - 80, y))
    until(page, f"document.querySelector('.tl-scroll').scrollLeft > {left} + 50")
    assert page.locator(".tl-slider").get_attribute("aria-valuetext") == start


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


def test_a_phone_shows_which_view_is_open(open_page: Open):
    page = open_page("#/unshuffle", width=380)
    page.locator(".tray").wait_for(state="attached")
    until(page, "document.querySelector('.views [aria-current]').getBoundingClientRect().right <= innerWidth")


def test_the_legend_is_true_in_the_dark(open_page: Open, video: str):
    """There a strip is brightest where there is most attention."""
    page = walked(open_page(f"#/video/{video}?t=9", theme="dark"))
    assert "dark" not in page.locator(".legend").inner_text()
