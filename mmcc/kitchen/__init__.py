"""The kitchen: a bundled world of narrated video, written out as ordinary video, captions and annotations."""

# What a seed writes is frozen under this number: results name it, and any change of a frame or a word is a new one.
KITCHEN_VERSION = 1
