"""``python -m uids``, the same as the script ``uids``."""

import sys

from uids.app.cli import main

sys.exit(main())
