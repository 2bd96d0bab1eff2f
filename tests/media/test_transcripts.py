"""Transcripts in tables: HowTo100M's CSV and JSON, Whisper's JSON."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.media.captions import Cue, parse_captions, read_captions
from mmcc.media.transcripts import index_caption_json

ENTRY = {"start": [0.5, 2.0], "end": [2.5, 4.0], "text": ['say "hi", {then} [x]', "fry \u00e9 \\ it"]}


def spoken(content: object, name: str = "a.json") -> list[Cue]:
    return parse_captions(json.dumps(content).encode(), name)


@pytest.mark.parametrize(
    "table",
    [
        'start,end,text\n0.5,2.5,"chop, then ""fry"""\n2.0,4.0,it\n',
        ',start,end,text\r\n0,0.5,2.5,"chop, then ""fry"""\r\n1,2.0,4.0,it\r\n',
        'text,Start,END\n"chop, then ""fry""",0.5,2.5\nit,2.0,4.0\n',
    ],
)
def test_howto100m_csv(table):
    assert parse_captions(table.encode(), "a.csv") == [Cue(0.5, 2.0, 'chop, then "fry"'), Cue(2.0, 4.0, "it")]


def test_csv_rows_without_usable_times_are_dropped():
    table = "start,end,text\nnan,1,a\n1,inf,b\nx,2,c\n3\n1e308,1e308,d\n" + "9" * 5000 + ",1,e\n2,3,kept\n"
    assert [cue.text for cue in parse_captions(table.encode(), "a.csv")] == ["kept"]


def test_csv_without_its_columns_is_refused_with_a_remedy():
    with pytest.raises(InputError, match="columns start, end and text") as error:
        parse_captions(b"a,b\n1,2\n", "a.csv")
    assert "HowTo100M" in error.value.remedy


def test_one_entry_and_one_video_of_many():
    expected = [Cue(0.5, 2.0, 'say "hi", {then}'), Cue(2.0, 4.0, "fry é \\ it")]
    assert spoken(ENTRY) == spoken({"vid": ENTRY}) == expected


def test_rolling_raw_captions_are_unrolled():
    lines = ["hello there", "we make soup", "chop it", "and fry"]
    shown = [lines[0]] + [f"{a} {b}" for a, b in itertools.pairwise(lines)]
    entry = {"start": [0, 2, 4, 6], "end": [2, 4, 6, 8], "text": shown}
    assert [cue.text for cue in spoken(entry)] == lines


def test_a_file_of_many_videos_is_read_by_span_or_by_id(tmp_path):
    path = tmp_path / "caption.json"
    path.write_text(json.dumps({"aaa": {"start": [], "end": [], "text": []}, 'b"é': ENTRY, "ccc": ENTRY}, indent=1))
    spans = index_caption_json(path)
    assert list(spans) == ["aaa", 'b"é', "ccc"]
    assert read_captions(path, spans['b"é']) == read_captions(path, video_id="ccc") == spoken(ENTRY)
    assert list(index_caption_json(path, {"ccc", "zzz"})) == ["ccc"]
    for wanted in (None, "zzz"):
        with pytest.raises(InputError, match="3 videos"):
            read_captions(path, video_id=wanted)


VIDEOS = st.dictionaries(st.text(max_size=8), st.lists(st.text(max_size=12), max_size=3), max_size=6)


@given(VIDEOS, st.sampled_from([None, 2]))
@settings(max_examples=150, deadline=None)
def test_the_index_finds_what_json_finds(tmp_path_factory, videos, indent):
    content = {key: {"start": [1] * len(said), "end": [2.5] * len(said), "text": said} for key, said in videos.items()}
    path = tmp_path_factory.getbasetemp() / "index.json"
    path.write_text(json.dumps(content, indent=indent, ensure_ascii=bool(indent)), errors="replace")
    data = path.read_bytes()
    spans = index_caption_json(path)
    assert {key: json.loads(data[start : start + size]) for key, (start, size) in spans.items()} == json.loads(data)


@pytest.mark.parametrize("cut", [0, 1, 5, 30, -2, -1])
def test_a_truncated_caption_json_is_refused(tmp_path, cut):
    path = tmp_path / "caption.json"
    path.write_text(json.dumps({"a": ENTRY, "b": ENTRY})[:cut])
    with pytest.raises(InputError) as error:
        index_caption_json(path)
    assert str(path) in str(error.value)
    assert "Download it again" in error.value.remedy


def test_a_missing_caption_json_is_refused(tmp_path):
    with pytest.raises(InputError):
        index_caption_json(tmp_path / "no.json")


def test_whisper_segments_with_words_and_silence():
    content = {
        "text": "...",
        "segments": [
            {
                "start": 0.0,
                "end": 2.0,
                "text": " Chop the mother-in-law's onion.",
                "no_speech_prob": 0.6,
                "words": [
                    {"word": word, "start": start, "end": start + 0.2, "probability": 0.9}
                    for word, start in [
                        (" Chop", 0.1),
                        (" the", 0.5),
                        (" mother", 0.7),
                        ("-in-law's", 1.0),
                        (" onion.", 1.5),
                    ]
                ],
            },
            {"start": 2.0, "end": 30.0, "text": " Thanks for watching!", "no_speech_prob": 0.61},
            {"start": 30.0, "end": 31.0, "text": " Fry it.", "words": [{"word": "other", "start": 30.0}]},
        ],
    }
    first, second = spoken(content)
    assert [tuple(word) for word in first.words] == [
        (0.1, "Chop"),
        (0.5, "the"),
        (0.7, "mother-in-law's"),
        (1.5, "onion."),
    ]
    assert first.text == "Chop the mother-in-law's onion."
    assert second == Cue(30.0, 31.0, "Fry it.")


@pytest.mark.parametrize(
    "content",
    [
        [{"start": 1, "end": 2, "text": "fry it"}],
        {"transcription": [{"offsets": {"from": 1000, "to": 2000}, "text": " fry it"}]},
        {"chunks": [{"timestamp": [1.0, 2.0], "text": " fry it"}]},
        {"segments": [{"start": "1.0", "end": 2, "text": "fry it"}, {"start": None, "end": 3, "text": "no time"}]},
    ],
)
def test_variants_of_whisper(content):
    assert spoken(content) == [Cue(1.0, 2.0, "fry it")]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 5000,
        "[1, 2]",
        '{"segments": 3}',
        '{"start": 1}',
        "null",
        '"x"',
        "",
        "[[]]",
    ],
)
def test_json_that_is_not_a_transcript_is_refused(text):
    with pytest.raises(InputError) as error:
        parse_captions(text.encode(), "a.json")
    assert error.value.remedy


def test_hostile_numbers_and_types_in_json_do_no_harm():
    values = ["NaN", "1e308", "-Infinity", "true", "null", '"x"', "[]", "1" + "0" * 400, "5"]
    for start in values:
        for end in values:
            words = f'[{{"word": "a", "start": {start}}}]'
            text = f'{{"segments": [{{"start": {start}, "end": {end}, "text": "a", "words": {words}}}]}}'
            cues = parse_captions(text.encode(), "a.json")
            assert all(0 <= cue.start <= cue.end <= 3_600_001 for cue in cues)
    assert parse_captions(b'[{"start": 1, "end": 2, "text": "a\\ud800\\u0000b"}]', "a.json") == [Cue(1, 2, "ab")]


def test_a_path_without_suffix_is_recognised_by_its_content(tmp_path: Path):
    path = tmp_path / "transcript"
    path.write_text(json.dumps(ENTRY))
    assert read_captions(path) == spoken(ENTRY)
