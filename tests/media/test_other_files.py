"""A video file never makes the decoder open another file or an address."""

import ctypes
import os
import sys
from pathlib import Path

import pytest

from mmcc.errors import InputError
from mmcc.media.subtitle_streams import read_subtitle_stream
from tests.media.test_video import sample


def test_a_name_is_never_a_protocol(tmp_path, monkeypatch, make_clip):
    make_clip("file:soup.mp4")
    monkeypatch.chdir(tmp_path)
    assert len(sample(Path("file:soup.mp4"))[0]) == 3
    with pytest.raises(InputError, match="no such file"):
        sample(Path("concat:a|b"))


HOSTILE = {  # files that name another one, each in a format that libavformat reads
    "concat": "ffconcat version 1.0\nfile 'secret.ts'\n",
    "HLS": "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nsecret.ts\n#EXT-X-ENDLIST\n",
    "HLS by path": "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nfile:{folder}/secret.ts\n#EXT-X-ENDLIST\n",
    "HLS of a part": "#EXTM3U\n#EXTINF:3,\nsubfile,,start,0,end,9999,,:{folder}/secret.ts\n#EXT-X-ENDLIST\n",
    "DASH": (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        'mediaPresentationDuration="PT3S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" '
        'bandwidth="1"><BaseURL>secret.ts</BaseURL></Representation></AdaptationSet></Period></MPD>'
    ),
    "SDP": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n",
    "VobSub": "# VobSub index file, v7\nid: en, index: 0\ntimestamp: 00:00:00:000, filepos: 000000000\n",
    "AviSynth": 'AVISource("secret.ts")\n',
}


class Watched:
    """Counts how often a file is opened, by whatever code: asks the kernel."""

    def __init__(self, path: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = self._libc.inotify_init1(os.O_NONBLOCK)
        assert self._libc.inotify_add_watch(self._queue, os.fsencode(path), 0x20) >= 0  # IN_OPEN

    def opened(self) -> int:
        try:
            return len(os.read(self._queue, 4096)) // 16
        except BlockingIOError:
            return 0


@pytest.fixture
def watched(tmp_path, make_clip):
    found = Watched(make_clip("secret.ts"))
    (tmp_path / "secret.sub").write_bytes(b"")
    (tmp_path / "secret.ts").read_bytes()
    assert found.opened() == 1, "the watch works"
    yield found
    os.close(found._queue)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
@pytest.mark.parametrize("suffix", [".mkv", ".mp4", ".ts", ".avi"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_file_makes_the_decoder_open_another(tmp_path, watched, kind, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_text(HOSTILE[kind].replace("{folder}", str(tmp_path)))
    with pytest.raises(InputError, match=r"not a kind of video|cannot be opened"):
        sample(path)
    with pytest.raises(InputError):
        read_subtitle_stream(path)
    assert not watched.opened()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_name_is_never_a_sequence_of_pictures(tmp_path, watched):
    for number in range(3):
        (tmp_path / f"s{number}.mp4").symlink_to("secret.ts")
    (tmp_path / "s%d.mp4").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        sample(tmp_path / "s%d.mp4")
    (tmp_path / "s%d.mp4").write_bytes(b"no video")
    with pytest.raises(InputError):
        sample(tmp_path / "s%d.mp4")
    assert not watched.opened()


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_movie_whose_data_is_in_another_file_does_not_open_it(tmp_path, watched, make_clip):
    """QuickTime's data references: the box "dref" may name the file that has the frames."""
    content = make_clip("whole.mov").read_bytes()
    path = str(tmp_path / "secret.ts").encode()
    name = bytes([len(path[-63:])]) + path[-63:].ljust(63, b"\0")  # Pascal's strings, of a fixed length
    alias = b"\0" * 10 + b"\x01x".ljust(28, b"\0") + b"\0" * 12 + name + b"\0" * 16 + b"\0\0\0\0" + b"\0" * 16
    alias += b"\0\x02" + len(path).to_bytes(2, "big") + path + b"\0" * (len(path) % 2) + b"\xff\xff\0\0"
    entry = (12 + len(alias)).to_bytes(4, "big") + b"alis" + b"\0" * 4 + alias
    own = content.index(b"dref") + 12  # after the type, flags and count
    grown = len(entry) - int.from_bytes(content[own : own + 4], "big")
    changed = bytearray(content[:own] + entry + content[own - grown + len(entry) :])
    for box in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):  # the tables come last: no frame moves
        at = changed.index(box) - 4
        changed[at : at + 4] = (int.from_bytes(changed[at : at + 4], "big") + grown).to_bytes(4, "big")
    (tmp_path / "x.mov").write_bytes(changed)
    with pytest.raises(InputError):
        sample(tmp_path / "x.mov")
    assert not watched.opened()
