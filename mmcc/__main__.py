"""`python -m mmcc` is `mmcc`."""

import sys

from mmcc.cli import main

sys.exit(main())
