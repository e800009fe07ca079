//! The digest of the running software.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rhae_protocol::Digest;
use rhae_runs::RunsError;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 hash of this executable.
///
/// # Errors
///
/// Returns an error if the executable cannot be read.
pub(crate) fn software_digest() -> Result<Digest, RunsError> {
    static DIGEST: OnceLock<Digest> = OnceLock::new();
    if let Some(digest) = DIGEST.get() {
        return Ok(digest.clone());
    }
    let digest = digest_of_executable()?;
    Ok(DIGEST.get_or_init(|| digest).clone())
}

fn digest_of_executable() -> Result<Digest, RunsError> {
    let path = if cfg!(target_os = "linux") {
        // This is the running program even if its file was replaced.
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe().map_err(RunsError::file("find", Path::new("rhae")))?
    };
    let failed = |error| RunsError::file("read", &path)(error);
    let mut file = File::open(&path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(Digest(hex::encode(hash.finalize()))),
            length => hash.update(&buffer[..length]),
        }
    }
}
