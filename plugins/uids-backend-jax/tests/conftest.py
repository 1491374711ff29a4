"""XLA compiles for each shape, and tests have many: here it may do so without optimising."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
