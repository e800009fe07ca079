//! The layers of the sandbox.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The layers of the sandbox that are in force.
///
/// Landlock, seccomp and the resource limits are required; namespaces are an additional barrier
/// that many systems deny to ordinary users.
///
/// # Examples
///
/// ```
/// use rhae_sandbox::Layers;
///
/// let layers = Layers { landlock: Some(4), seccomp: true, namespaces: false, limits: true };
/// assert!(layers.missing().is_empty());
/// assert_eq!(layers.to_string(), "Landlock 4, seccomp, limits");
///
/// let old_kernel = Layers { landlock: None, ..layers };
/// assert_eq!(old_kernel.missing(), ["Landlock (files)"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The version of the kernel's Landlock ABI, or `None` if Landlock is not enforced. It
    /// restricts files; from version 4 on also TCP, and from version 6 on signals and abstract Unix
    /// sockets.
    pub landlock: Option<u8>,
    /// Whether the allow-list of system calls is enforced.
    pub seccomp: bool,
    /// Whether the process has separate user, network, IPC and UTS namespaces.
    pub namespaces: bool,
    /// Whether the limits on memory, CPU time and files are set.
    pub limits: bool,
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
        required
            .into_iter()
            .filter(|(present, _)| !present)
            .map(|(_, name)| name)
            .collect()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = self.landlock.map(|abi| format!("Landlock {abi}"));
        let named = [
            (self.seccomp, "seccomp"),
            (self.namespaces, "namespaces"),
            (self.limits, "limits"),
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
            namespaces: false,
            limits: true,
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
}
