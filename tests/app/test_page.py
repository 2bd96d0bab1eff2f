"""The page as a person uses it: a real browser, the real server, a small corpus. Skipped where there is no browser."""

import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")
pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra page)")

from playwright.sync_api import Page, Route

from mmcc.app.explorer import Explorer
from tests.app import browsing
from tests.app.browsing import CHROMIUM, Open, becomes, until, walked

browser, open_page = browsing.browser, browsing.open_page  # fixtures
pytestmark = [
    pytest.mark.slow,  # a browser
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


# Short messages: a test may look only after they have gone.
TOLD = """
    window.told = [];
    const keep = (node) => node.classList?.contains("toast") && told.push(node.textContent);
    new MutationObserver((changes) => changes.forEach(({addedNodes}) => addedNodes.forEach(keep)))
        .observe(document, {childList: true, subtree: true});
"""


def start(page: Page) -> str:
    """What the walk starts from, as a screen reader says it."""
    return page.locator(".tl-slider").get_attribute("aria-valuetext") or ""


def titles(page: Page) -> list[str]:
    return page.locator(".card-title").all_inner_texts()


def test_library_finds_sorts_and_opens(open_page: Open, explorer: Explorer):
    page = open_page()
    page.locator(".card").first.wait_for()
    assert len(titles(page)) == len(explorer.library.cards)
    page.get_by_label("Sort by").select_option("duration")
    longest = max(explorer.library.cards, key=lambda card: card.duration)
    until(page, f"document.querySelector('.card-title').textContent === {longest.title!r}")
    page.keyboard.press("/")
    page.keyboard.type(longest.title)
    becomes(page, titles, [longest.title])
    until(page, f"location.hash.includes('q={longest.title}')")
    page.keyboard.type(" no such word")
    page.get_by_text("Nothing found").wait_for()
    page.get_by_role("button", name="Show all videos").click()
    until(page, f"document.querySelectorAll('.card').length === {len(explorer.library.cards)}")
    page.locator(".results:not([aria-busy])").wait_for()
    page.locator(".card-link").first.click()
    assert walked(page).locator("h1").inner_text() == longest.title


def test_a_click_on_a_frame_or_an_utterance_starts_a_walk(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=1"))
    first = start(page)
    assert first.startswith("frame")
    film = page.locator(".film").bounding_box()
    page.mouse.click(film["x"] + film["width"] / 2, film["y"] + film["height"] / 2)
    until(page, f"document.querySelector('.tl-slider').ariaValueText !== {first!r}")
    assert start(page).startswith("frame")
    until(page, "!/t=1$/.test(location.hash)")
    assert page.locator(".lane-upper .arc.out").count() == page.locator(".lane-lower .arc.out").count() == 1
    assert page.locator(".walks section").count() == 2 and page.locator(".walks .station").count() == 10
    assert page.locator(".threads .thread").count() >= 2
    coloured = """[...document.querySelectorAll('canvas.heat')].map((canvas) => {
        const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(data).size;
    })"""
    assert all(shades > 10 for shades in page.evaluate(coloured))  # an empty strip has one
    page.locator(".transcript button").nth(2).click()
    until(page, "document.querySelector('.tl-slider').ariaValueText.startsWith('utterance 3 ')")
    assert page.locator(".lane-upper .arc.out.text").count() == 1
    page.locator(".stations .station.vision button").first.click()  # a station starts a walk of its own
    until(page, "document.querySelector('.tl-slider').ariaValueText.startsWith('frame')")


def test_controls_answer_at_once(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=20"))
    share = ".strip-label .num.vision"
    page.locator("#temperature").fill("0")
    until(page, "document.querySelector('.controls output').textContent === '0.01'")
    until(page, f"[...document.querySelectorAll('{share}')].some((each) => parseInt(each.textContent) > 30)")
    page.locator("#temperature").fill("100")
    until(page, f"[...document.querySelectorAll('{share}')].every((each) => parseInt(each.textContent) < 30)")
    page.get_by_label("One modality").check()
    until(page, "document.querySelector('.threads').classList.contains('unused')")
    with page.expect_request(lambda request: "constrain=0" in request.url):
        page.get_by_label("Respect time").uncheck()


def test_keyboard_walks_plays_and_helps(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=10"))
    here = page.locator(".tl-slider").get_attribute("aria-valuenow")
    assert here == "10"
    page.keyboard.press("ArrowRight")
    until(page, "document.querySelector('.tl-slider').ariaValueNow === '11'")
    page.keyboard.press("Shift+ArrowLeft")
    until(page, "document.querySelector('.tl-slider').ariaValueNow === '1'")
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('.tl-slider').ariaValueText.startsWith('utterance')")
    page.keyboard.press("Space")
    until(page, "!document.querySelector('video').paused && document.querySelector('video').currentTime > 0")
    page.keyboard.press("Space")
    until(page, "document.querySelector('video').paused")
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("Play or pause").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    until(page, "document.activeElement.id === 'search'")


def test_keys_that_the_help_names_work_in_it(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=10"))
    dialog = page.get_by_role("dialog")
    page.keyboard.press("?")
    dialog.wait_for()
    page.keyboard.press("?")
    dialog.wait_for(state="detached")
    page.keyboard.press("?")
    dialog.wait_for()
    page.keyboard.press("/")
    until(page, "document.activeElement.id === 'search'")
    assert not dialog.count()


def test_the_state_of_a_view_does_not_replace_the_address_of_the_next(open_page: Open, video: str):
    """A page that is busy hears of a new address only after the timer that keeps the moment in the former one."""
    page = walked(open_page(f"#/video/{video}?t=10"))
    page.evaluate("""() => {
        const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        const queue = new MessageChannel();
        queue.port1.onmessage = () => press("/");
        press("ArrowRight");
        queue.port2.postMessage("before the timer");
        const began = performance.now();
        while (performance.now() - began < 300);
    }""")
    until(page, "document.activeElement.id === 'search'")
    assert page.evaluate("location.hash") == "#/"


def test_links_to_a_moment_open_there(open_page: Open, video: str):
    page = walked(open_page(f"#/video/{video}?t=8.5"))
    until(page, "Math.abs(document.querySelector('video').currentTime - 8.5) < 0.2")
    assert "t=8.5" in page.url


def test_what_cannot_play_is_shown_as_frames(open_page: Open, video: str):
    def refuse(page: Page) -> None:
        page.route("**/media", lambda route: route.fulfill(status=200, content_type="video/mp4", body=b"not a video"))

    page = walked(open_page(f"#/video/{video}?t=5", before=refuse, may_fail=True))
    page.get_by_text("this browser cannot play the file").wait_for()
    first = page.locator(".still").get_attribute("src")
    page.keyboard.press("ArrowRight")
    until(page, f"document.querySelector('.still').getAttribute('src') !== {first!r}")


def test_transitions_play_and_export(open_page: Open, video: str):
    page = open_page(f"#/transitions?video={video}")
    page.locator(".pair-play").first.click()
    dialog = page.get_by_role("dialog")
    until(page, "document.querySelector('dialog video')?.readyState > 0")
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    with page.expect_download() as found:
        page.get_by_role("button", name="Step guide").click()
    assert Path(found.value.path()).read_text().startswith("<!doctype html>")


def test_transitions_of_a_library_that_is_being_embedded(open_page: Open):
    """What there is so far, and how far it is; then all of it."""
    waiting = {"state": "embedding", "done": 0.1, "videos": 1, "total": 8, "reason": None}
    answers = [{"changes": [], "warning": None, "library": waiting}]

    def answer(route: Route) -> None:
        route.fulfill(json=answers.pop()) if answers else route.continue_()

    page = open_page("#/transitions", before=lambda page: page.route("**/api/v1/transitions?*", answer))
    page.get_by_text("for the first time: 1 of 8 videos").wait_for()
    page.locator(".pair-play").first.wait_for()


def test_what_comes_next_of_a_frame_and_of_a_photo(open_page: Open, video: str, photos: list[bytes]):
    page = open_page(f"#/next?video={video}&frame=3")
    page.locator(".hit").first.wait_for()
    page.locator("#own-steps").fill("add flour\nwhisk the eggs\nxyzzy")
    until(page, "document.querySelectorAll('.ranked:not(.none)').length === 2")
    page.get_by_text("unknown words").wait_for()
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.jpg", "mimeType": "image/jpeg", "buffer": photos[0]}
    )
    page.get_by_text("mine.jpg").wait_for()
    page.locator(".answer:not([aria-busy]) .hit").first.wait_for()


def names(page: Page) -> list[str]:
    return page.locator(".photo-name").all_inner_texts()


def test_unshuffle_orders_and_takes_corrections(open_page: Open, photos: list[bytes]):
    page = open_page("#/unshuffle")
    given = [{"name": f"{n}.jpg", "mimeType": "image/jpeg", "buffer": photo} for n, photo in enumerate(photos)]
    page.locator("input[type=file]").set_input_files(given)
    until(
        page,
        "[...document.querySelectorAll('.photo-link')].filter((each) => each.textContent.includes('%')).length === 3",
    )
    found = names(page)
    assert sorted(found) == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"]
    boxes = [page.locator(".photo").nth(place).bounding_box() for place in (0, 3)]
    first, last = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last, steps=8)
    page.mouse.up()
    dragged = [*found[1:], found[0]]
    becomes(page, names, dragged)
    assert page.locator(".photo-link.yours:visible").count() == 1
    page.locator(".photo").nth(3).focus()
    page.keyboard.press("Shift+ArrowLeft")
    becomes(page, names, [*dragged[:2], dragged[3], dragged[2]])
    with page.expect_download() as copies:
        page.get_by_role("button", name="Numbered copies").click()
    archive = zipfile.ZipFile(io.BytesIO(Path(copies.value.path()).read_bytes()))
    assert archive.testzip() is None
    assert archive.namelist() == [f"{place:02}-{name}" for place, name in enumerate(names(page), start=1)]
    assert archive.read(archive.namelist()[0]) == photos[int(names(page)[0][0])]
    page.get_by_role("button", name="The model's order").click()
    becomes(page, names, found)
    page.get_by_label(f"Remove {found[1]}").click()
    becomes(page, names, [found[0], *found[2:]])


def test_two_models_on_one_timeline(open_page: Open, video: str):
    page = walked(open_page(f"#/compare?video={video}&index=5"))
    overlap = page.locator(".agreement td:last-child").all_inner_texts()
    assert [each for each in overlap if each] == ["100 %"] * 4  # the second model is the first by another name
    assert page.locator(".lane-upper .arc.out").count() == page.locator(".lane-lower .arc.out").count() == 1


@pytest.fixture
def to_mark(video: str, annotations: Path) -> Iterator[str]:
    """A video without marks of another test."""
    shutil.rmtree(annotations, ignore_errors=True)
    yield video
    shutil.rmtree(annotations, ignore_errors=True)


def marked(page: Page) -> list[str]:
    return page.locator(".mark-time").all_inner_texts()


def test_marks_survive_the_tab_and_the_server(open_page: Open, to_mark: str):
    page = open_page(f"#/mark/{to_mark}", may_fail=True)
    page.get_by_text("Saved", exact=True).wait_for()
    page.locator(".steps-list li").first.wait_for()
    before = marked(page)

    def mark(first: float, last: float) -> None:
        until(page, "document.querySelector('video').readyState >= 2")  # before that it has no time to mark
        for moment in (first, last):
            page.evaluate(f"document.querySelector('video').currentTime = {moment}")
            there = f"Math.abs(document.querySelector('video').currentTime - {moment}) < 0.05"
            until(page, f"!document.querySelector('video').seeking && {there}")
            page.keyboard.press("1")

    mark(2, 4)
    page.get_by_text("0:02.0 – 0:04.0").wait_for()
    page.get_by_text("Saved", exact=True).wait_for()
    assert len(marked(page)) == len(before) + 1 and "0:02.0 – 0:04.0" in marked(page)
    page.reload()
    page.get_by_text("0:02.0 – 0:04.0").wait_for()
    page.route("**/marks", lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    mark(5, 7)
    page.get_by_text("Kept in this browser").wait_for()
    page.unroute("**/marks")
    page.reload()  # the draft comes back, and is saved
    page.get_by_text("0:05.0 – 0:07.0").wait_for()
    page.get_by_text("Saved", exact=True).wait_for()
    page.locator(".mark-time").filter(has_text="0:05.0").locator("xpath=../..").get_by_label("Delete").click()
    page.get_by_text("0:05.0 – 0:07.0").wait_for(state="detached")
    page.keyboard.press("Control+z")
    page.get_by_text("0:05.0 – 0:07.0").wait_for()
    page.get_by_text("Saved", exact=True).wait_for()


def test_failures_are_told_and_can_be_retried(open_page: Open, address: str):
    def cut(page: Page) -> None:
        page.route("**/api/v1/videos?*", lambda route: route.abort())

    page = open_page(before=cut, may_fail=True)
    page.get_by_text("The server does not answer.").wait_for()
    page.unroute("**/api/v1/videos?*")
    page.get_by_role("button", name="Try again").click()
    for unknown in ("unknown", f"{quote('<b>')}%"):
        page.locator(".card").first.wait_for()  # and no alert of before
        page.goto(f"{address}#/video/{unknown}")
        page.get_by_role("alert").wait_for()
        page.goto(f"{address}#/")


def test_two_windows_that_mark_the_same_video_are_asked(open_page: Open, address: str, to_mark: str):
    """The browser says 409 in its console, too."""
    page = open_page(f"#/mark/{to_mark}", may_fail=True)
    page.get_by_text("Saved", exact=True).wait_for()
    marks = f"{address}api/v1/videos/{to_mark}/marks"
    theirs = page.request.get(marks).json() | {"task": {"title": "Theirs", "steps": ["boil water"]}, "marks": []}
    assert page.request.put(marks, data=theirs, headers={"Origin": address.rstrip("/")}).ok
    page.get_by_label("New step").fill("mine")
    page.keyboard.press("Enter")
    page.get_by_text("changed in another window").wait_for()
    page.get_by_role("button", name="Take theirs").click()
    until(page, "document.querySelector('#task').value === 'Theirs'")
    page.get_by_text("Saved", exact=True).wait_for()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Undo").click()  # mine again, and theirs is not lost either
    until(page, "document.querySelector('#task').value !== 'Theirs'")
    page.get_by_text("Saved", exact=True).wait_for()


def test_photos_that_were_cleared_stay_away(open_page: Open, photos: list[bytes]):
    """The answer about them may still be on its way."""
    held = []
    page = open_page("#/unshuffle", before=lambda page: page.route("**/unshuffle", lambda route: held.append(route)))
    given = [{"name": f"{n}.jpg", "mimeType": "image/jpeg", "buffer": photo} for n, photo in enumerate(photos)]
    page.locator("input[type=file]").set_input_files(given)
    page.get_by_text("The model looks at 4 photos").wait_for()
    page.get_by_label("Remove 1.jpg").click()
    page.get_by_text("The model looks at 3 photos").wait_for()
    page.get_by_role("button", name="Clear").click()
    becomes(page, lambda page: len(held), 2)
    page.unroute("**/unshuffle")
    page.locator("input[type=file]").set_input_files(given[:3])
    page.locator("#tray-help:not([hidden])").wait_for()
    assert sorted(names(page)) == ["0.jpg", "1.jpg", "2.jpg"]


def test_files_that_are_no_photos_are_left_out_and_told(open_page: Open, photos: list[bytes]):
    page = open_page("#/unshuffle", before=lambda page: page.add_init_script(TOLD))
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"butter"}
    phone = {"name": "IMG_1.HEIC", "mimeType": "", "buffer": photos[1]}  # as browsers see an iPhone's
    page.locator("input[type=file]").set_input_files([notes])
    until(page, "told.includes('Only images can be used here.')")
    photo = {"name": "0.jpg", "mimeType": "image/jpeg", "buffer": photos[0]}
    page.locator("input[type=file]").set_input_files([photo, notes, phone])
    until(page, "told.some((words) => words.startsWith('1 file left out'))")
    becomes(page, names, ["0.jpg", "IMG_1.HEIC"])


def test_a_page_beyond_the_last_shows_the_last(open_page: Open, explorer: Explorer):
    page = open_page("#/?page=7")
    until(page, f"document.querySelectorAll('.card').length === {len(explorer.library.cards)}")
    until(page, "location.hash === '#/'")
