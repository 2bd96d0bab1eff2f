"""Guides: what they show, where they link to, and what they escape."""

import json
import re
from html.parser import HTMLParser

import simplejpeg

from mmcc.report.guide import address_of, guide_html, guide_markdown, guide_steps, make_guide, still_files, stills_of
from tests.report.made_up_changes import HOSTILE, footage, video_changes


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.images, self.links = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.images += [dict(attributes)["src"]] if tag == "img" else []
        self.links += [dict(attributes)["href"]] if tag == "a" else []

    def handle_data(self, data):
        self.texts.append(data)


def guide_to(folder, pairs=((30, 60), (80, 100)), warnings=(), **options):
    changes = video_changes(pairs, **options)
    return make_guide(changes.footage, changes.changes, 10, folder, warnings)


def test_a_guide_shows_no_moment_twice_and_goes_with_time():
    changes = video_changes([(50, 90), (52, 110), (10, 88), (20, 60), (5, 30)]).changes
    assert [(c.from_frame, c.to_frame) for c in guide_steps(changes, 10)] == [(5, 30), (20, 60), (50, 90)]
    assert [(c.from_frame, c.to_frame) for c in guide_steps(changes, 1)] == [(50, 90)]


def test_the_guides_escape_what_people_say(tmp_path):
    guide = guide_to(tmp_path, name=HOSTILE, text=HOSTILE, warnings=[HOSTILE])
    page = guide_html(guide)
    reader = Reader(page)
    assert "script" not in reader.tags and reader.tags.count("img") == 4
    assert all(source.startswith("data:image/jpeg;base64,") for source in reader.images)
    assert f"“{HOSTILE}”" in reader.texts and HOSTILE in reader.texts
    assert "http" not in page.replace("http-equiv", "")
    text = guide_markdown(guide)
    assert not re.search(r"<(?!\.\.|\w+\.mp4)", text) and "[x](y)" not in text
    assert "`rm`" not in text.replace("\\`", "")
    named = re.findall(r"\((step-.*?jpg)\)", text)
    assert set(named) == set(still_files(guide)) and all(
        each[:2] == b"\xff\xd8" for each in still_files(guide).values()
    )
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == 2


def test_warnings_come_before_everything_else(tmp_path):
    guide = guide_to(tmp_path, warnings=["Warning: it is a guess."])
    page, text = guide_html(guide), guide_markdown(guide)
    assert page.index("Warning: it is a guess.") < page.index("clearest changes")
    assert text.splitlines()[2] == "> **Warning: it is a guess.**"
    assert "Warning" not in guide_html(guide_to(tmp_path)) + guide_markdown(guide_to(tmp_path))


def test_vectors_have_no_stills(tmp_path):
    guide = guide_to(tmp_path, encoding="float32")
    assert "![" not in guide_markdown(guide) and "<img" not in guide_html(guide) and still_files(guide) == {}


def test_stills_have_the_videos_own_size(make_clip):
    clip = make_clip("soup.mp4", seconds=4, size="640x360")
    found = stills_of(footage(seconds=4, path=clip), [0, 3])
    assert [simplejpeg.decode_jpeg(each).shape for each in found.values()] == [(360, 640, 3)] * 2
    clip.unlink()
    assert simplejpeg.decode_jpeg(stills_of(footage(seconds=4, path=clip), [0])[0]).shape == (16, 16, 3)


def test_times_link_to_the_moment_in_the_file(make_clip, tmp_path):
    clip = make_clip("my videos/tomato #1.mp4", seconds=1)
    guide = guide_to(tmp_path / "out", path=clip)
    links = [link for link in Reader(guide_html(guide)).links if not link.startswith("#")]
    assert set(links) == {f"../my%20videos/tomato%20%231.mp4#t={time}" for time in (30, 60, 80, 100)}
    assert "**Before · [0:30](<../my%20videos/tomato%20%231.mp4#t=30>)**" in guide_markdown(guide)
    far = tmp_path / "a" / "b" / "c" / "d" / "e"
    assert address_of(footage(path=clip), far) == ""  # a path from there would not survive being passed on


def test_times_link_to_youtube_if_the_id_is_known(tmp_path):
    clip = tmp_path / "Soup [dQw4w9WgXcQ].mp4"
    assert (
        guide_to(tmp_path, path=clip, name=clip.name).link(83.9) == "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=83s"
    )
    plain = tmp_path / "soup.mp4"
    (tmp_path / "soup.info.json").write_text(json.dumps({"id": "-abc_DEF123"}))
    assert address_of(footage(path=plain), tmp_path) == "https://www.youtube.com/watch?v=-abc_DEF123"
    (tmp_path / "soup.info.json").write_text(json.dumps({"id": "not an id"}))
    assert address_of(footage(path=plain), tmp_path) == "soup.mp4"
    assert address_of(footage(), tmp_path) == ""
