"""The verbs of the command line: a file each, and no logic of their own."""
