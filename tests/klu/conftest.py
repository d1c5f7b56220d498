"""What the tests of KLU share with those of all linear solvers: matrices."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "linear"))
