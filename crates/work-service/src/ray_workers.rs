//! Workers on a Ray cluster. A Python program, which needs only the package `ray`, starts them and
//! reports those that are lost.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use rhae_protocol::LeaseLoss;
use rhae_runs::RunsError;
use serde_json::json;

use crate::{Coordinator, DistributeError, Workload};

/// The program that starts the workers.
const PROGRAM: &str = include_str!("ray_workers.py");
/// Its name in the folder of the coordinator.
const PROGRAM_NAME: &str = ".ray_workers.py";
/// The interval at which the workers are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// Workers on a Ray cluster.
#[derive(Clone, Debug)]
pub struct RayRequest {
    /// The Python interpreter that has the package `ray`.
    pub python: OsString,
    /// The address of the cluster, such as `10.0.0.1:6379` or `ray://10.0.0.1:10001`. Without one, Ray
    /// starts on this machine.
    pub address: Option<String>,
    /// The number of workers; that of the cluster's CPUs if absent. There are never more workers than
    /// unfinished units.
    pub workers: Option<u32>,
    /// The path of `rhae` on every node.
    pub program: OsString,
    /// Further arguments of `rhae work`.
    pub arguments: Vec<OsString>,
    /// The address and the token of the coordinator.
    pub coordinator: SocketAddr,
    pub token: String,
}

/// Returns the address at which a coordinator must listen so that the nodes of a cluster reach it:
/// that of the network interface towards the head of the cluster, or the loopback address without a
/// cluster.
///
/// # Errors
///
/// Returns an error if the address of the cluster is not valid or not reachable.
pub fn address_towards(cluster: Option<&str>) -> Result<IpAddr, DistributeError> {
    let Some(cluster) = cluster else {
        return Ok(Ipv4Addr::LOCALHOST.into());
    };
    let invalid = |reason: String| {
        DistributeError::Workers(format!(
            "`{cluster}` is not the address of a cluster, such as 10.0.0.1:6379 or ray://10.0.0.1:10001: {reason}"
        ))
    };
    let host = cluster.strip_prefix("ray://").unwrap_or(cluster);
    let addresses = host.to_socket_addrs();
    let mut addresses = addresses.map_err(|error| invalid(error.to_string()))?;
    let address = addresses.next();
    let address = address.ok_or_else(|| invalid("the name has no address".to_owned()))?;
    // Connecting a datagram socket selects an interface and sends nothing.
    let local = UdpSocket::bind(match address {
        SocketAddr::V4(_) => "0.0.0.0:0",
        SocketAddr::V6(_) => "[::]:0",
    })
    .and_then(|socket| socket.connect(address).and_then(|()| socket.local_addr()));
    Ok(local.map_err(|error| invalid(error.to_string()))?.ip())
}

/// Executes the units of a coordinator with workers on a Ray cluster, like
/// [`run_local_workers`](crate::run_local_workers). `folder` is a folder for the program that starts
/// them.
///
/// # Errors
///
/// Returns an error if the workers cannot be started, or fail again and again.
pub fn run_ray_workers<W: Workload>(
    coordinator: &Coordinator<W>,
    folder: &Path,
    request: &RayRequest,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<(), DistributeError> {
    let program = folder.join(PROGRAM_NAME);
    std::fs::write(&program, PROGRAM).map_err(RunsError::file("write", &program))?;
    let mut driver = start(&program, request, coordinator.unfinished_units())?;
    let stdout = driver.stdout.take().expect("standard output is a pipe");
    let ended = lines(stdout);
    let result = loop {
        if coordinator.is_over() || interrupt.load(Ordering::Relaxed) {
            break Ok(());
        }
        progress();
        match ended.try_recv() {
            Ok((name, reason)) => coordinator.end_worker(&name, reason)?,
            Err(TryRecvError::Empty) => std::thread::sleep(WATCH_INTERVAL),
            Err(TryRecvError::Disconnected) => {
                break Err(DistributeError::Workers(
                    "the program that starts the workers has ended; its messages are above"
                        .to_owned(),
                ));
            }
        }
    };
    // The workers return their units when their standard input closes. Ray ends them with the driver.
    drop(driver.stdin.take());
    let ended = driver.wait();
    ended.map_err(RunsError::file("end", request.python.as_ref()))?;
    // The program has no use without this process.
    let _ = std::fs::remove_file(program);
    // Every worker has either finished all units or ended with the driver.
    result.and_then(|()| coordinator.end_all_workers())
}

fn start(program: &Path, request: &RayRequest, units: usize) -> Result<Child, DistributeError> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let settings = json!({
        "address": request.address,
        "url": format!("http://{}", request.coordinator),
        "token": request.token,
        "workers": request.workers,
        "units": units,
        "program": text(&request.program),
        "arguments": request.arguments.iter().map(text).collect::<Vec<_>>(),
    });
    let started = Command::new(&request.python)
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut driver = started.map_err(RunsError::file("start", request.python.as_ref()))?;
    let stdin = driver.stdin.as_mut().expect("standard input is a pipe");
    // If the program has already ended, its output closes, which is reported.
    let _ = writeln!(stdin, "{settings}");
    Ok(driver)
}

/// Returns the names of workers that ended or were lost. The channel closes when the program ends.
fn lines(stdout: ChildStdout) -> Receiver<(String, LeaseLoss)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let ended = match line.split_once(' ') {
                Some(("ended", name)) => (name.to_owned(), LeaseLoss::WorkerEnded),
                Some(("lost", name)) => (name.to_owned(), LeaseLoss::NodeLost),
                _ => continue,
            };
            if sender.send(ended).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinator_listens_towards_the_cluster() {
        let address = |cluster| address_towards(cluster).unwrap().to_string();
        assert_eq!(address(None), "127.0.0.1");
        assert_eq!(address(Some("127.0.0.1:6379")), "127.0.0.1");
        assert_eq!(address(Some("ray://127.0.0.1:10001")), "127.0.0.1");
        let error = address_towards(Some("auto")).unwrap_err().to_string();
        assert!(
            error.contains("`auto` is not the address of a cluster"),
            "{error}"
        );
    }
}
