"""Draw three short how-to clips with captions, to have something to ingest on any machine.

    python scripts/demo_clips.py FOLDER

One comes with SRT, one with WebVTT, one with YouTube-like rolling captions, as real folders do.
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm

WIDTH, HEIGHT, RATE = 320, 180, 10
Drawing = Callable[[ImageDraw.ImageDraw, float], None]  # draws the scene at a share of its story, 0 to 1

Line = tuple[float, float, str]


def tea(draw: ImageDraw.ImageDraw, share: float) -> None:
    """A cup fills, then darkens as the tea draws."""
    level, steep = min(1.0, share * 2), max(0.0, share * 2 - 1)
    colour = (int(205 - 90 * steep), int(215 - 130 * steep), int(225 - 190 * steep))
    draw.ellipse((95, 145, 225, 170), fill="#b9a58c")
    draw.rounded_rectangle((110, 60, 210, 160), 18, fill="#f6f3ee", outline="#8d7f70", width=3)
    draw.arc((196, 80, 244, 130), -90, 90, fill="#8d7f70", width=7)
    if level > 0.02:
        draw.rounded_rectangle((116, 150 - 80 * level, 204, 154), 12, fill=colour)
    if share < 0.5:
        draw.line((160, 0, 160, 150 - 80 * level), fill="#9cc4dd", width=6)


def tower(draw: ImageDraw.ImageDraw, share: float) -> None:
    """Blocks are stacked one by one."""
    colours = ["#d1495b", "#edae49", "#66a182", "#2e4057", "#8d96a3", "#00798c"]
    for place, colour in enumerate(colours[: int(share * 6.99)]):
        left = 120 + 6 * (place % 2)
        draw.rectangle((left, 145 - 22 * place, left + 80, 165 - 22 * place), fill=colour, outline="#222222")


def candle(draw: ImageDraw.ImageDraw, share: float) -> None:
    """A candle is lit and burns down."""
    top = 40 + 90 * share
    draw.rectangle((140, top, 180, 165), fill="#efe6d2", outline="#b5a98c")
    draw.ellipse((110, 158, 210, 176), fill="#7a6a58")
    if share > 0.1:
        draw.ellipse((151, top - 26, 169, top - 2), fill="#ffb703")
        draw.ellipse((156, top - 16, 164, top - 3), fill="#fff3c4")


CLIPS: dict[str, tuple[Drawing, str, list[Line]]] = {
    "Brew a cup of tea [demo_tea_01]": (tea, "vtt", [
        (1.0, 3.5, "Take a clean cup."), (4.0, 8.0, "Now pour in the hot water until it is full."),
        (12.0, 15.0, "Let the tea steep."), (18.0, 22.0, "See how it gets darker? It is ready.")]),
    "Build a tower [demo_tower1]": (tower, "srt", [
        (0.5, 3.0, "We start with the red block."), (5.0, 8.5, "Put the yellow one on top, then the green."),
        (13.0, 16.0, "Keep stacking."), (19.0, 23.0, "And there it is: a tower of six.")]),
    "Burn a candle [demo_candle]": (candle, "rolling", [
        (1.0, 3.0, "here is a new candle"), (3.0, 6.0, "we light it with a match"),
        (9.0, 12.0, "the wax begins to melt"), (18.0, 22.0, "and now it is almost gone")]),
}  # fmt: skip


def write_video(path: Path, draw_scene: Drawing, seconds: int = 24) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        for number in range(seconds * RATE):
            image = Image.new("RGB", (WIDTH, HEIGHT), "#dfe7ec")
            draw = ImageDraw.Draw(image)
            draw.rectangle((0, 150, WIDTH, HEIGHT), fill="#c8b299")
            draw_scene(draw, number / (seconds * RATE - 1))
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def clock(seconds: float, comma: bool = False) -> str:
    text = f"{int(seconds // 3600):02d}:{int(seconds // 60 % 60):02d}:{seconds % 60:06.3f}"
    return text.replace(".", ",") if comma else text


def captions(style: str, lines: list[Line]) -> tuple[str, str]:
    """A caption file's suffix and text."""
    if style == "srt":
        return ".srt", "\n".join(
            f"{number}\n{clock(start, True)} --> {clock(end, True)}\n{text}\n"
            for number, (start, end, text) in enumerate(lines, 1)
        )
    if style == "vtt":
        return ".en.vtt", "WEBVTT\n\n" + "\n".join(f"{clock(a)} --> {clock(b)}\n{text}\n" for a, b, text in lines)
    blocks, shown, until = ["WEBVTT\nKind: captions\nLanguage: en\n"], " ", 0.0
    for start, end, text in lines:
        shown = shown if start == until else " "  # after a silence the screen is blank
        until = end
        first, *words = text.split()
        step = (end - start) / (len(words) + 1)
        timed = first + "".join(f"<{clock(start + step * n)}><c> {word}</c>" for n, word in enumerate(words, 1))
        blocks.append(f"{clock(start)} --> {clock(end - 0.01)} align:start position:0%\n{shown}\n{timed}\n")
        blocks.append(f"{clock(end - 0.01)} --> {clock(end)} align:start position:0%\n{text}\n \n")
        shown = text
    return ".en.vtt", "\n".join(blocks)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (scene, style, lines) in tqdm(CLIPS.items(), desc="clips", disable=None, leave=False):
        write_video(folder / f"{name}.mp4", scene)
        suffix, text = captions(style, lines)
        (folder / f"{name}{suffix}").write_text(text)


if __name__ == "__main__":
    main()
