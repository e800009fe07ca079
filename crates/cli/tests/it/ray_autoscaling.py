"""A Ray cluster on one machine that starts and removes nodes by demand.

It is what `ray.cluster_utils.AutoscalingCluster` starts, but does not end other clusters of the machine,
and needs no file that the package lacks. The first line of standard output is the address. Each line of
standard input is answered by the number of nodes besides the head.
"""

import json
import os
import subprocess
import sys
import time

import ray

MEMORY = 80 * 1024 * 1024
HOST = "127.0.0.1"
CONFIG = {
    "cluster_name": "rhae",
    "max_workers": 4,
    "provider": {
        "type": "fake_multinode",
        # All nodes have the same address.
        "use_node_id_as_ip": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    },
    "available_node_types": {
        "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
        "worker": {
            "resources": {"CPU": 1, "object_store_memory": MEMORY},
            "node_config": {},
            "min_workers": 0,
            "max_workers": 4,
        },
    },
    "head_node_type": "ray.head.default",
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 0.05,
    "file_mounts_sync_continuously": False,
}
for name in ["auth", "docker", "file_mounts"]:
    CONFIG[name] = {}
for name in ["initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray"]:
    CONFIG[name + "_commands"] = []
for name in ["cluster_synced_files", "rsync_exclude", "rsync_filter"]:
    CONFIG[name] = []


def nodes():
    return sum(node["Alive"] for node in ray.nodes()) - 1


port, folder = sys.argv[1:]
address = f"{HOST}:{port}"
CONFIG["provider"]["gcs_address"] = address
path = os.path.join(folder, "autoscaler.json")
with open(path, "w") as file:
    json.dump(CONFIG, file)
command = [os.path.join(os.path.dirname(sys.executable), "ray"), "start", "--head", "--block", "--num-cpus", "0"]
command += ["--node-ip-address", HOST, "--port", port, "--object-store-memory", str(MEMORY)]
command += ["--include-dashboard", "false", "--disable-usage-stats", "--autoscaling-config", path]
head = subprocess.Popen(
    command,
    env={**os.environ, "AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1"},
    stdin=subprocess.DEVNULL,
    stdout=sys.stderr,
)
try:
    while head.poll() is None:
        try:
            ray.init(address=address, log_to_driver=False)
            break
        except ConnectionError:
            time.sleep(0.2)
    if ray.is_initialized():
        print(address, flush=True)
        for _ in sys.stdin:
            print(nodes(), flush=True)
        # The autoscaler started the processes of the nodes, and ends them when they are idle.
        for _ in range(120):
            if nodes() == 0:
                break
            time.sleep(0.25)
        ray.shutdown()
finally:
    head.terminate()
    head.wait()
