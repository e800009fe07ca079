"""A Ray cluster on one machine: a head without processors, and nodes with one each.

Commands are lines of standard input: `add` and `remove`. Each is answered by a line, and the first line
is the address of the cluster.
"""

import sys

from ray.cluster_utils import Cluster


def add():
    return cluster.add_node(num_cpus=1, object_store_memory=80 * 1024 * 1024)


cluster = Cluster(
    initialize_head=True,
    head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 * 1024 * 1024},
)
nodes = [add(), add()]
cluster.wait_for_nodes()
print(cluster.address, flush=True)
for line in sys.stdin:
    if line.strip() == "add":
        nodes.append(add())
    else:
        cluster.remove_node(nodes.pop(0), allow_graceful=False)
    print("done", flush=True)
cluster.shutdown()
