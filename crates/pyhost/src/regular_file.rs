//! Reading files of games, which may come from strangers.
//!
//! **Invariant:** only regular files are read, and no symbolic link is followed. A link in a game's
//! folder could otherwise make Rhae publish any file of the user as the source of a game.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::HostError;
use crate::folder::failed;

/// The maximum size of one file.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a regular file of at most [`MAX_FILE_BYTES`].
///
/// # Errors
///
/// [`HostError::NotRegular`] for a symbolic link, a folder, a pipe or a device,
/// [`HostError::TooLarge`] beyond the limit, and [`HostError::File`] if the file cannot be read.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, HostError> {
    let irregular = || HostError::NotRegular {
        path: path.to_owned(),
    };
    let file = match open(path) {
        Ok(file) => File::from(file),
        // A symbolic link has no other error. A socket cannot be opened at all.
        Err(Errno::LOOP | Errno::NXIO) => return Err(irregular()),
        Err(error) => return Err(failed("read", path)(error.into())),
    };
    // The open handle is checked, not the path, which might refer to another file by now.
    let metadata = file.metadata().map_err(failed("read", path))?;
    if !metadata.is_file() {
        return Err(irregular());
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(HostError::TooLarge {
            folder: path.to_owned(),
            problem: "more than 16 MiB",
        });
    }
    Ok(bytes)
}

/// Reads a regular file of UTF-8 text. A byte order mark at its start is dropped.
pub(crate) fn read_text(path: &Path) -> Result<String, HostError> {
    text_of(path, &read_bytes(path)?)
}

/// Decodes the content of a file.
pub(crate) fn text_of(path: &Path, bytes: &[u8]) -> Result<String, HostError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| HostError::Metadata {
        file: path.to_owned(),
        problem: "the file is not UTF-8 text".to_owned(),
    })?;
    Ok(text.to_owned())
}

/// Opens a file for reading without following symbolic links. `NONBLOCK` prevents that opening a
/// named pipe waits for a writer.
fn open(path: &Path) -> Result<rustix::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        // This also refuses links in place of folders. The paths of games contain none, because
        // they start with a canonical path and continue with real folders.
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // The kernel is older than 5.6, or a sandbox does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

/// Returns whether an I/O error says that a file does not exist.
pub(crate) fn is_missing(error: &HostError) -> bool {
    matches!(error, HostError::File { error, .. } if error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_folders_and_pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("secret"), "secret").unwrap();
        assert_eq!(read_text(&root.join("secret")).unwrap(), "secret");
        symlink(root.join("secret"), root.join("link")).unwrap();
        symlink(root.join("missing"), root.join("dangling")).unwrap();
        std::fs::create_dir(root.join("folder")).unwrap();
        std::fs::write(root.join("folder/file"), "x").unwrap();
        symlink(root.join("folder"), root.join("other")).unwrap();
        rustix::fs::mkfifoat(CWD, root.join("pipe"), Mode::RUSR).unwrap();
        for name in ["link", "dangling", "folder", "pipe", "other/file"] {
            let error = read_bytes(&root.join(name)).unwrap_err();
            assert!(
                matches!(error, HostError::NotRegular { .. }),
                "{name}: {error}"
            );
        }
        let error = read_bytes(&root.join("none")).unwrap_err();
        assert!(is_missing(&error), "{error}");
    }

    #[test]
    fn large_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("large");
        File::create(&path)
            .unwrap()
            .set_len(MAX_FILE_BYTES + 1)
            .unwrap();
        let error = read_bytes(&path).unwrap_err().to_string();
        assert!(error.contains("more than 16 MiB"), "{error}");
    }
}
