"""Caption files of every kind become clean, timed cues, or an InputError, and nothing else."""

import codecs
import itertools
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.media.captions import LONGEST, Cue, clean, looks_automatic, parse_captions, read_captions
from mmcc.media.utterances import to_utterances

DATA = Path(__file__).parents[2].parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real samples of ../shared/data are not here")


def texts(data: str | bytes, name: str = "a.srt") -> list[str]:
    return [cue.text for cue in parse_captions(data.encode() if isinstance(data, str) else data, name)]


def words(cues: list[Cue]) -> list[str]:
    return " ".join(cue.text for cue in cues).split()


SRT = "1\n00:00:01,000 --> 00:00:02,500\nchop the onion\n\n2\n00:00:02,500 --> 00:00:04,000\nand fry it\nslowly\n"


def test_srt_times_and_lines_are_read():
    assert parse_captions(SRT.encode(), "a.srt") == [
        Cue(1.0, 2.5, "chop the onion"),
        Cue(2.5, 4.0, "and fry it slowly"),
    ]


@pytest.mark.parametrize(
    "variant",
    [
        SRT.replace("\n", "\r\n"),
        SRT.replace("\n", "\r"),
        SRT.replace("\n", "\r\r\n"),
        SRT.replace(",", "."),
        SRT.replace("00:00:0", "00:0"),
        SRT.replace("1\n00", "00").replace("2\n00", "00"),
        SRT.replace("\n\n", "\n\n\n\n"),
        SRT.replace("\n\n2", "\n2"),
        SRT.replace("1\n00", "1\n\n00").replace("2\n00", "2\n\n00"),
        SRT.replace("it\nslowly", "it\n\nslowly"),
        SRT.replace("00,000\n", "00,000 X1:40 X2:600 Y1:20 Y2:50\n"),
        SRT.replace("chop", "{\\an8}<i>chop</i>"),
        "\ufeff" + SRT,
    ],
)
def test_the_usual_deviations_of_srt_read_the_same(variant):
    assert parse_captions(variant.encode(), "a.srt") == parse_captions(SRT.encode(), "a.srt")


def test_a_spoken_number_is_kept_beside_an_index():
    countdown = "1\n00:01,000 --> 00:02,000\n10\n\n2\n00:02,000 --> 00:03,000\n9\n\n3\n00:03,000 --> 00:04,000\n8\n"
    assert texts(countdown) == ["10", "9", "8"]
    assert texts("00:01,000 --> 00:02,000\n10\n\n00:02,000 --> 00:03,000\n9\n") == ["10", "9"]


def test_an_arrow_in_the_text_is_not_a_timing_line():
    assert texts("00:01,000 --> 00:02,000\nraw --> cooked\n\n00:02,000 --> 00:03,000\ndone\n") == ["raw cooked", "done"]
    odd = "00:01,000 --> 00:02,000\nnot --> 00:09,000\n00:09,000 --> 00:10,000\ndone\n"
    assert parse_captions(odd.encode(), "a.srt") == [Cue(1.0, 2.0, "not 00:09,000"), Cue(9.0, 10.0, "done")]


def test_a_number_in_the_title_of_a_webvtt_file_numbers_no_cues():
    vtt = "WEBVTT episode 5\n\n00:01.000 --> 00:02.000\n10\n\n00:02.000 --> 00:03.000\n9\n"
    assert texts(vtt, "a.vtt") == ["10", "9"]


def test_webvtt_blocks_names_and_settings_are_dropped():
    vtt = (
        "WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:fred\n\n"
        "NOTE a comment\nover two lines\n\nintro-1\n00:01.000 --> 00:02.000 line:80% align:start\n"
        "<v Ann Lee>Take <c.red>the</c> <b>pan</b>\n\nNOTE\n00:01.000 --> 00:02.000\ncommented out\n\n"
        "100:00:02.000 --> 100:00:03.000\n<ruby>漢<rt>kan</rt></ruby><i>ji</i>\n"
    )
    assert parse_captions(vtt.encode(), "a.vtt") == [Cue(1.0, 2.0, "Take the pan"), Cue(360002.0, 360003.0, "漢ji")]


def test_overlapping_cues_end_when_the_next_begins():
    cues = parse_captions(b"00:00,000 --> 00:07,500\nhi my name\n\n00:03,959 --> 00:09,960\nis Sophie\n", "a.srt")
    assert cues == [Cue(0.0, 3.959, "hi my name"), Cue(3.959, 9.96, "is Sophie")]


def test_cues_are_sorted_by_time_and_a_duplicate_counts_once():
    srt = "00:05,000 --> 00:06,000\nb\n\n00:01,000 --> 00:02,000\na\n\n00:01,000 --> 00:02,000\na\n"
    assert texts(srt) == ["a", "b"]


def test_bad_times_follow_the_written_rule():
    srt = (
        "00:05,000 --> 00:03,000\nreversed end\n\n-00:00:01,000 --> 00:00:01,000\nbegins before zero\n\n"
        "-00:00:03,000 --> -00:00:02,000\nwholly before\n\n9999:00:00,000 --> 9999:00:01,000\nnever\n"
    )
    assert parse_captions(srt.encode(), "a.srt") == [
        Cue(0.0, 1.0, "begins before zero"),
        Cue(5.0, 5.0 + len("reversed end") / 15, "reversed end"),
    ]


@pytest.mark.parametrize(
    "encoded",
    [
        "crème — it’s".encode(),
        codecs.BOM_UTF8 + "crème — it’s".encode(),
        "crème — it’s".encode("utf-16"),
        codecs.BOM_UTF16_BE + "crème — it’s".encode("utf-16-be"),
        "crème — it’s".encode("utf-16-le"),
        "crème — it’s".encode("utf-16-be"),
        "crème — it’s".encode("cp1252"),
    ],
)
def test_encodings_are_recognized(encoded):
    encoding = "utf-16-be" if encoded.startswith((b"\0", b"\xfe")) else "utf-16-le" if b"\0" in encoded else "utf-8"
    frame = "1\n00:00:01,000 --> 00:00:02,000\n"
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    mark = next((mark for mark in marks if encoded.startswith(mark)), b"")
    assert texts(mark + frame.encode(encoding) + encoded.removeprefix(mark)) == ["crème — it’s"]


def test_one_broken_byte_does_not_turn_utf8_into_gibberish():
    data = ("00:01,000 --> 00:02,000\n" + "crème brûlée " * 5).encode() + b"\xe9 done"
    assert texts(data) == ["crème brûlée " * 5 + "done"]


@pytest.mark.parametrize(
    ("shown", "spoken"),
    [
        ("salt &amp; pepper&nbsp;it&#39;s &quot;hot&quot;", 'salt & pepper it\'s "hot"'),
        ("it&amp;#39;s", "it's"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("I <3 soup", "I <3 soup"),
        ("3 &lt; 4", "3 < 4"),
        ('<font color="#fff">white</font> wine<br>now', "white wine now"),
        ("[Music] stir [ __ ] it", "stir it"),
        ("(applause)", ""),
        ("(upbeat music) welcome", "welcome"),
        ("(oil sizzling)", ""),
        ("flour (about two cups)", "flour (about two cups)"),
        ("(onion rings) next", "(onion rings) next"),
        ("(until it is sizzling)", "(until it is sizzling)"),
        ("♪♪", ""),
        ("♪ upbeat music ♪", ""),
        ("♪ happy birthday ♪", "happy birthday"),
        ("- Hi.\n– Hello.", "Hi. Hello."),
        ("-Hi", "Hi"),
        ("-5 degrees", "-5 degrees"),
        ("he's in - in a bad humor", "he's in - in a bad humor"),
        (">> JOHN: hello >> hi", "hello hi"),
        (">> Mary Ann: hello", "hello"),
        ("CHEF 1: add it", "add it"),
        ("STEP 2: add it", "STEP 2: add it"),
        ("remember: salt at 10:30", "remember: salt at 10:30"),
        ("a\u200bb\x00c\ud800 \x1e d\ufeff", "abc d"),
        ("  two \t spaces\u00a0here ", "two spaces here"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
    ],
)
def test_only_what_is_spoken_is_kept(shown, spoken):
    assert clean(shown) == spoken


def test_repetition_by_the_speaker_is_kept():
    srt = "".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n{text}\n\n"
        for n, text in enumerate(
            ["no no no", "no no no", "stir it", "stir it", "stir it again", "stir it again"], start=1
        )
    )
    assert texts(srt) == ["no no no", "no no no", "stir it", "stir it", "stir it again", "stir it again"]


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00\x01\x02\xff" * 50, b"{", b"1\n2\n3\n"])
def test_anything_but_a_caption_file_is_an_input_error_with_a_remedy(data, tmp_path):
    path = tmp_path / "broken.srt"
    path.write_bytes(data)
    with pytest.raises(InputError) as error:
        read_captions(path)
    assert error.value.path == str(path)
    assert error.value.cause
    assert error.value.remedy


def test_a_missing_file_a_folder_and_a_stale_span_are_input_errors(tmp_path):
    table = tmp_path / "a.json"
    table.write_text("{}")
    for path, span in [(tmp_path / "no.srt", None), (tmp_path, None), (table, (0, 3)), (table, (-1, 1))]:
        with pytest.raises(InputError):
            read_captions(path, span)


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:20,000\n{}\n"),
        ("a.csv", 'start,end,text\n1.0,20.0,"{}"\n'),
        ("a.json", '{{"start": [1.0], "end": [20.0], "text": ["{}"]}}'),
    ],
)
def test_a_caption_that_nobody_could_say_is_refused(name, layout):
    """A line of 200 MB would be in the index, and on every page about its video."""
    assert len(parse_captions(layout.format("a " * (LONGEST // 2)).encode(), name)) == 1
    with pytest.raises(InputError, match=f"has a caption of {LONGEST + 2:,} letters") as refused:
        parse_captions(layout.format("a " * (LONGEST // 2) + "bc").encode(), name)
    assert refused.value.remedy.startswith("Split it")


def test_a_valid_file_without_speech_is_not_an_error():
    assert texts("WEBVTT\n\n", "a.vtt") == []
    assert texts("00:01,000 --> 00:02,000\n[Music]\n") == []


@needs_data
def test_the_same_talk_gives_the_same_words_in_every_format():
    rolling = read_captions(DATA / "clips/manifesto.vtt")
    plain = read_captions(DATA / "clips/manifesto.srt")
    assert words(rolling) == words(plain)
    assert len(words(plain)) == 206
    assert [cue.start for cue in rolling] == [cue.start for cue in plain]
    assert looks_automatic((DATA / "clips/manifesto.vtt").read_bytes()[:16384])
    assert not looks_automatic((DATA / "clips/manifesto.srt").read_bytes()[:16384])
    for path in (DATA / "crosstask").rglob("*.srt"):  # speech recognition whose lines overlap
        assert looks_automatic(path.read_bytes()[:2048])


@needs_data
def test_dialogue_of_a_film():
    assert [cue.text for cue in read_captions(DATA / "clips/friday.vtt")] == [
        "Hildy!",
        "How are you?",
        "Tell me, is the lord of the universe in?",
        "Yes, he's in - in a bad humor",
        "Somebody must've stolen the crown jewels",
    ]


def real_caption_files() -> list[Path]:
    patterns = ("clips/*.srt", "clips/*.vtt", "crosstask/*/data/*/subtitles/*.srt")
    return [path for pattern in patterns for path in sorted(DATA.glob(pattern))]


@needs_data
@pytest.mark.parametrize("path", real_caption_files(), ids=lambda path: path.name)
def test_real_files_keep_every_word_in_time(path):
    cues = read_captions(path)
    assert all(cue.start <= cue.end for cue in cues)
    assert all(before.end <= after.start for before, after in itertools.pairwise(cues))
    if path.suffix == ".srt":
        lines = path.read_text().splitlines()
        assert words(cues) == " ".join(line for line in lines if "-->" not in line and not line.isdigit()).split()


PIECES = [*'0123456789:.,-> \n\r<>[](){}&#;"\\abA\0♪', "-->", "00:00:01,000 --> 00:00:02,000\n", "WEBVTT\n\n"]
ANYTHING = st.binary(max_size=2000) | st.lists(st.sampled_from(PIECES)).map(lambda pieces: "".join(pieces).encode())
DAMAGE = st.tuples(st.integers(0, 2999), st.integers(0, 40), st.binary(max_size=6) | st.just(b"\n\n"))
NAMES = st.sampled_from(["a.srt", "a.vtt", "a.json", "a.csv", "a"])


def reads_or_refuses(data: bytes, name: str) -> None:
    looks_automatic(data)
    try:
        cues = parse_captions(data, name)
    except InputError:
        return
    assert all(0 <= cue.start <= cue.end < float("inf") and cue.text for cue in cues)
    assert all(before.end <= after.start for before, after in itertools.pairwise(cues))
    assert all(not (set(cue.text) & set("\0\n\r\t\x1e")) and cue.text.encode() for cue in cues)
    assert all(not cue.words or " ".join(word.text for word in cue.words) == cue.text for cue in cues)
    utterances = to_utterances(cues)
    assert words(cues) == " ".join(utterance.text for utterance in utterances).split()


@given(ANYTHING, NAMES)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_read_or_refused(data, name):
    reads_or_refuses(data, name)


REAL = [path.read_bytes()[:3000] for path in real_caption_files()] or [SRT.encode()]


@given(st.sampled_from(REAL), st.lists(DAMAGE, max_size=12), NAMES)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_real_files_are_read_or_refused(data, damage, name):
    for position, length, replacement in damage:
        data = data[:position] + replacement + data[position + length :]
    reads_or_refuses(data, name)


HOSTILE = [
    "<", "<a", "-", "[", "[a", "(", "({[", "9", ":", "&", "&#9", ">>", ">>A", "♪", "♪a", "{\\", "\n", "\n\n", "A: ",
    "A: \n", ".", '."', ",", "<00:", "<00:00:01.000>", "<00:00:01.000> a", "<rt>", "-->", "00:00:00.000 --> ", "x",
    "00:00:00.000 --> 00:00:00.000\n", "00:00:00.000 --> 00:00:00.000\na\n\n", "\n\nNOTE\n", "a\n", " ", "\t\n", "a, ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_one_thing_takes_no_longer_than_ten_times_a_tenth(unit):
    def cost(size: int) -> float:
        data = ("WEBVTT\n\n00:00:01.000 --> 00:00:09.000\n" + unit * (size // len(unit))).encode()
        started = time.process_time()
        reads_or_refuses(data, "a.vtt")
        return time.process_time() - started

    # A quadratic reader would need 100 times as long every time, a linear one 40 times as long once in a busy while.
    assert any(cost(1_000_000) < 40 * max(cost(100_000), 0.01) for _ in range(5))
