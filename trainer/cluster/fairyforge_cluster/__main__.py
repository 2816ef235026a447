"""`python -m fairyforge_cluster`."""

import sys

from fairyforge_cluster.cli import main

sys.exit(main())
