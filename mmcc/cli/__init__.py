"""The commands: one file each, without logic."""
