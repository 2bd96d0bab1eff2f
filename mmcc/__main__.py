"""`python -m mmcc` is `mmcc`."""

import sys

from mmcc.cli.main import main

sys.exit(main())
