"""What a bound costs: nanoseconds per flow, by kind of job, depth of the trees and way of bounding.

    python bench/bounds.py [--jobs 40] [--trees 16]

Models are trained on synthetic jobs, and evaluated natively on features drawn at random, on one
core (the example `forest` of the crate spillway-forest). A window of features is scaled and
bounded.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from spillway.learning import bounds
from spillway.learning.bounds.job import FEATURES
from spillway.learning.bounds.synthetic import make_all

ROOT = Path(__file__).resolve().parent.parent
DEPTHS = (5, 10)


def main() -> None:
    """Trains all models, and has them evaluated."""
    parser = argparse.ArgumentParser(description="What a bound costs.")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--trees", type=int, default=16)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for kind in FEATURES:
            jobs = [made.job for made in make_all(kind, given.jobs)]
            for depth in DEPTHS:
                trained = bounds.train(jobs, depth=depth, trees=given.trees)
                for method, model in trained.models.items():
                    models.append(Path(folder, f"{kind}-{depth}-{method}"))
                    model.save(models[-1])
        example = ["cargo", "run", "--release", "--quiet", "-p", "spillway-forest"]
        names = [file.name for file in models]
        done = subprocess.run(
            [*example, "--manifest-path", ROOT / "Cargo.toml", "--example", "forest", "--", *names],
            cwd=folder,
            check=False,
        )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
