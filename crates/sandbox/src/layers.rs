//! The layers of the sandbox.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The layers of the sandbox that are in force.
///
/// Landlock, seccomp and the resource limits are required. Namespaces, the private root and the
/// separate process ids are additional barriers, which many systems deny to ordinary users.
///
/// # Examples
///
/// ```
/// use rhae_sandbox::Layers;
///
/// let layers = Layers {
///     landlock: Some(4),
///     seccomp: true,
///     limits: true,
///     namespaces: true,
///     ..Layers::default()
/// };
/// assert!(layers.missing().is_empty());
/// assert_eq!(layers.to_string(), "Landlock 4, seccomp, limits, namespaces");
/// assert_eq!(layers.unavailable().len(), 2);
///
/// let old_kernel = Layers { landlock: None, ..layers };
/// assert_eq!(old_kernel.missing(), ["Landlock (files)"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The version of the Landlock ABI that is enforced, or `None` if Landlock is not enforced. It
    /// restricts files; from version 4 on also TCP, and from version 6 on signals and abstract Unix
    /// sockets. seccomp denies all of these with every version.
    pub landlock: Option<u8>,
    /// Whether the allow-list of system calls is enforced.
    pub seccomp: bool,
    /// Whether the limits on memory, CPU time and files are set, and all privileges and inherited
    /// descriptors given up.
    pub limits: bool,
    /// Whether the process has separate network, IPC and UTS namespaces.
    pub namespaces: bool,
    /// Whether only the readable files exist for the process.
    pub private_root: bool,
    /// Whether no other processes exist for the process.
    pub private_processes: bool,
}

impl Layers {
    /// Returns the required layers that are missing, as texts for the user. Landlock protects
    /// files, seccomp almost everything else.
    pub fn missing(&self) -> Vec<&'static str> {
        let required = [
            (self.landlock.is_some(), "Landlock (files)"),
            (self.seccomp, "seccomp (network, processes)"),
            (self.limits, "resource limits (memory)"),
        ];
        absent(&required)
    }

    /// Returns the optional layers that the system does not allow, with what is lost without them.
    pub fn unavailable(&self) -> Vec<&'static str> {
        absent(&[
            (
                self.namespaces,
                "namespaces (second barrier to the network)",
            ),
            (
                self.private_root,
                "private root (existence, size and times of all files are visible)",
            ),
            (
                self.private_processes,
                "private processes (second barrier to other processes)",
            ),
        ])
    }
}

/// Returns the names of the layers that are not present.
fn absent(layers: &[(bool, &'static str)]) -> Vec<&'static str> {
    let absent = layers.iter().filter(|(present, _)| !present);
    absent.map(|(_, name)| *name).collect()
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = self.landlock.map(|abi| format!("Landlock {abi}"));
        let named = [
            (self.seccomp, "seccomp"),
            (self.limits, "limits"),
            (self.namespaces, "namespaces"),
            (self.private_root, "private root"),
            (self.private_processes, "private processes"),
        ];
        let named = named
            .into_iter()
            .filter(|(present, _)| *present)
            .map(|(_, name)| name.to_owned());
        let all: Vec<String> = landlock.into_iter().chain(named).collect();
        f.write_str(&if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_required_layers_are_named() {
        let all = Layers {
            landlock: Some(4),
            seccomp: true,
            limits: true,
            ..Layers::default()
        };
        assert_eq!(
            (all.missing().len(), all.to_string().as_str()),
            (0, "Landlock 4, seccomp, limits")
        );
        assert_eq!(
            Layers {
                landlock: None,
                ..all
            }
            .missing(),
            ["Landlock (files)"]
        );
        assert_eq!(Layers::default().to_string(), "none");
    }

    #[test]
    fn unavailable_layers_are_not_required() {
        let hidden = Layers {
            private_root: true,
            private_processes: true,
            ..Layers::default()
        };
        assert_eq!(hidden.missing().len(), 3);
        assert_eq!(
            hidden.unavailable(),
            ["namespaces (second barrier to the network)"]
        );
    }
}
