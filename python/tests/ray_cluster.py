"""A Ray cluster on one machine for tests: a head without CPUs, and nodes with two CPUs each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.cluster_utils import Cluster
from ray.core.generated import autoscaler_pb2

_STORE = 80 * 1024 * 1024


class Nodes:
    """The nodes of a cluster, to which this process is connected."""

    def __init__(self) -> None:
        self._cluster: Any = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False, "object_store_memory": _STORE},
        )
        self.nodes = [self.add(), self.add()]
        ray.init(address=self._cluster.address, log_to_driver=False)

    def add(self) -> Any:
        """Adds a node."""
        return self._cluster.add_node(num_cpus=2, object_store_memory=_STORE)

    def remove(self, node: Any) -> None:
        """Kills a node without warning."""
        self._cluster.remove_node(node, allow_graceful=False)

    def drain(self, node: Any) -> None:
        """Announces that a node will be shut down, as a cloud provider does for spot instances."""
        worker: Any = ray._private.worker.global_worker
        messages: Any = autoscaler_pb2
        reason = messages.DrainNodeReason.Value("DRAIN_NODE_REASON_PREEMPTION")
        accepted, why = worker.gcs_client.drain_node(node.node_id, reason, "a test", 2**63 - 2)
        assert accepted, why

    def close(self) -> None:
        """Ends the cluster."""
        ray.shutdown()
        self._cluster.shutdown()


@contextmanager
def started() -> Iterator[Nodes]:
    """Starts a cluster and ends it at the end."""
    nodes = Nodes()
    try:
        yield nodes
    finally:
        nodes.close()
