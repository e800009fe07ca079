//! The description of a sandbox as arguments of the launcher.

use std::ffi::OsString;
use std::path::PathBuf;

/// The resources that a process in the sandbox may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// The limit on the address space of the process, in MiB.
    pub memory_mb: u64,
    /// The total CPU time after which the process is killed, in seconds.
    pub cpu_seconds: u64,
}

/// A program to run in the sandbox, and what it may use. The network is always off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Files and folders that the program may read and execute, in addition to the dynamic loader,
    /// the time zones and a few devices.
    pub read: Vec<PathBuf>,
    /// Whether the program may also read all programs and libraries of the system (`/usr` and
    /// similar folders), because its needs are not known.
    pub system: bool,
    pub limits: ResourceLimits,
    /// Whether to start the program even if required layers are missing.
    pub partial: bool,
    /// The newest version of the Landlock ABI to use, for tests of older kernels.
    pub max_landlock_abi: Option<u8>,
    /// Whether to run without namespaces, for tests of systems that deny them.
    pub without_namespaces: bool,
    /// The program and its arguments. If empty, the launcher prints the layers instead.
    pub program: Vec<OsString>,
}

impl SandboxSpec {
    /// Returns the arguments that [`launch`](fn@crate::launch) accepts.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        for path in &self.read {
            arguments.extend(["--read".into(), path.clone().into_os_string()]);
        }
        arguments.extend([
            "--memory-mb".into(),
            self.limits.memory_mb.to_string().into(),
        ]);
        arguments.extend([
            "--cpu-seconds".into(),
            self.limits.cpu_seconds.to_string().into(),
        ]);
        if let Some(abi) = self.max_landlock_abi {
            arguments.extend(["--max-landlock-abi".into(), abi.to_string().into()]);
        }
        let flags = [
            (self.system, "--system"),
            (self.partial, "--partial"),
            (self.without_namespaces, "--without-namespaces"),
        ];
        let set = flags.into_iter().filter(|(set, _)| *set);
        arguments.extend(set.map(|(_, flag)| OsString::from(flag)));
        arguments.push("--".into());
        arguments.extend(self.program.iter().cloned());
        arguments
    }

    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut spec = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("`{}` needs a value", argument.display()))
            };
            let number = |value: OsString| -> Result<u64, &str> {
                value
                    .to_str()
                    .and_then(|text| text.parse().ok())
                    .ok_or("a limit must be a number")
            };
            match argument.to_str() {
                Some("--read") => spec.read.push(value()?.into()),
                Some("--memory-mb") => spec.limits.memory_mb = number(value()?)?,
                Some("--cpu-seconds") => spec.limits.cpu_seconds = number(value()?)?,
                Some("--max-landlock-abi") => {
                    let abi = number(value()?)?;
                    spec.max_landlock_abi = Some(u8::try_from(abi).unwrap_or(u8::MAX));
                }
                Some("--system") => spec.system = true,
                Some("--partial") => spec.partial = true,
                Some("--without-namespaces") => spec.without_namespaces = true,
                Some("--") => spec.program = arguments.by_ref().collect(),
                _ => return Err(format!("unknown argument `{}`", argument.display())),
            }
        }
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_spec_round_trips_through_arguments() {
        let spec = SandboxSpec {
            read: vec!["/usr".into(), "--read".into()],
            limits: ResourceLimits {
                memory_mb: 512,
                cpu_seconds: 60,
            },
            system: true,
            partial: true,
            max_landlock_abi: Some(3),
            without_namespaces: true,
            program: vec!["python".into(), "--partial".into()],
        };
        assert_eq!(SandboxSpec::parse(spec.to_arguments()), Ok(spec));
        assert!(
            SandboxSpec::parse(["--memory-mb".into(), "much".into()])
                .unwrap_err()
                .contains("number")
        );
        assert!(
            SandboxSpec::parse(["rm".into()])
                .unwrap_err()
                .contains("unknown argument `rm`")
        );
    }
}
