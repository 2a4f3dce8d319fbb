"""Two nodes of Ray on this machine, on the loopback address alone, until the input ends."""

import os
import sys
from pathlib import Path

from app.cluster.local import ALONE


def main(port: int) -> None:
    """Begin both nodes; say so in a line."""
    os.environ.update({**ALONE, "RAY_USAGE_STATS_ENABLED": "0"})
    from ray.cluster_utils import Cluster

    found = Cluster()
    for more in ({"ray_client_server_port": port}, {}):
        found.add_node(num_cpus=1, object_store_memory=100 * 2**20, include_dashboard=False, **more)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    found.shutdown()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))
    main(int(sys.argv[1]))
