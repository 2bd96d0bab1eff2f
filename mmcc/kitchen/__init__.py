"""The kitchen: a bundled world of narrated video, written out as ordinary video, captions and annotations."""

# The output for a seed is frozen under this number: results cite it, and any change of a frame or a word needs a new
# one.
KITCHEN_VERSION = 1
