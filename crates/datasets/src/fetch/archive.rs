//! Downloading and reading a repository's archive, a gzip-compressed tar file.

use std::io::{self, Read};
use std::time::Duration;

use flate2::read::GzDecoder;
use rhae_tasks::{SourceFile, TaskSet, load};
use sha2::{Digest, Sha256};
use ureq::http::Uri;

use super::record::Origin;
use crate::DatasetsError;
use crate::download::{Downloader, Redirects};

/// Maximum sizes of an archive, compressed and unpacked. The archives of the known repositories are
/// far smaller.
const MAX_ARCHIVE_BYTES: u64 = 64 << 20;
const MAX_UNPACKED_BYTES: u64 = 512 << 20;

/// The size of a block in a tar file, in bytes.
const BLOCK: u64 = 512;

/// Fetches the training and evaluation sets of a repository at a commit.
pub(super) fn fetch(
    server: &str,
    repository: &str,
    commit: &str,
    corpus: &str,
) -> Result<Vec<(TaskSet, Origin)>, DatasetsError> {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    if commit.is_empty() || !commit.chars().all(allowed) || commit.contains("..") {
        return Err(DatasetsError::Download(format!(
            "`{commit}` is not a commit"
        )));
    }
    let url = format!(
        "{}/{repository}/archive/{commit}.tar.gz",
        server.trim_end_matches('/')
    );
    let packed = download(&url)?;
    let sha256 = hex::encode(Sha256::digest(&packed));
    let archive = Archive::read(&unpack(&url, &packed)?).map_err(|error| DatasetsError::Io {
        operation: format!("`{url}` is not a tar file"),
        error,
    })?;
    let mut sets = Vec::new();
    for split in ["training", "evaluation"] {
        let within = format!("/data/{split}/");
        let files: Vec<SourceFile> = archive
            .files
            .iter()
            .filter(|(path, _)| {
                path.ends_with(".json")
                    && path
                        .split_once(&within)
                        .is_some_and(|(_, rest)| !rest.contains('/'))
            })
            .map(|(path, content)| SourceFile {
                name: path.clone(),
                text: String::from_utf8_lossy(content).into_owned(),
            })
            .collect();
        if files.is_empty() {
            return Err(DatasetsError::Download(format!(
                "`{url}` has no tasks in data/{split}"
            )));
        }
        let mut loaded = load(&files).map_err(|error| DatasetsError::Load {
            source_name: format!("the tasks of `{url}`"),
            error,
        })?;
        let mut set = loaded.sets.pop().expect("the archive has tasks");
        set.name = format!("{corpus}-{split}");
        let commit = archive.commit.clone().unwrap_or_else(|| commit.to_owned());
        sets.push((
            set,
            Origin {
                source: url.clone(),
                commit: Some(commit),
                sha256: sha256.clone(),
            },
        ));
    }
    Ok(sets)
}

/// Decompresses an archive up to the limit.
fn unpack(url: &str, packed: &[u8]) -> Result<Vec<u8>, DatasetsError> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .take(MAX_UNPACKED_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| DatasetsError::Io {
            operation: format!("`{url}` is not a complete gzip file"),
            error,
        })?;
    if bytes.len() as u64 > MAX_UNPACKED_BYTES {
        return Err(DatasetsError::Download(format!(
            "`{url}` unpacks to more than {MAX_UNPACKED_BYTES} bytes"
        )));
    }
    Ok(bytes)
}

fn download(url: &str) -> Result<Vec<u8>, DatasetsError> {
    let address: Uri = url
        .parse()
        .map_err(|error| DatasetsError::Download(format!("`{url}` is not a URL: {error}")))?;
    let local = address
        .host()
        .is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host));
    if address.scheme_str() != Some("https") && !local {
        return Err(DatasetsError::Download(format!(
            "`{url}` must start with https://"
        )));
    }
    let downloader = Downloader::new(Redirects::AnyHost, Duration::from_secs(300));
    let mut response = downloader.get(url, &[])?;
    match response.status().as_u16() {
        200 => {}
        404 => {
            return Err(DatasetsError::Download(format!(
                "`{url}` does not exist (404); check the commit"
            )));
        }
        status => {
            return Err(DatasetsError::Download(format!(
                "`{url}` returned status {status}"
            )));
        }
    }
    let body = response
        .body_mut()
        .with_config()
        .limit(MAX_ARCHIVE_BYTES)
        .read_to_vec();
    body.map_err(|error| {
        DatasetsError::Download(format!(
            "cannot download `{url}`; the limit is {MAX_ARCHIVE_BYTES} bytes: {error}"
        ))
    })
}

/// The contents of a tar file.
struct Archive {
    files: Vec<(String, Vec<u8>)>,
    /// Commit recorded in the archive's global header.
    commit: Option<String>,
}

impl Archive {
    /// Reads all regular files of a tar file and skips links, folders and other entries. Nothing is
    /// written to disk: the paths are only names.
    ///
    /// An archive without the zero block at its end is truncated and rejected, although the tar
    /// format's readers usually accept it.
    fn read(bytes: &[u8]) -> io::Result<Self> {
        let mut archive = Self {
            files: Vec::new(),
            commit: None,
        };
        let truncated = || io::Error::new(io::ErrorKind::UnexpectedEof, "the archive is truncated");
        let mut end = 0;
        for entry in tar::Archive::new(bytes).entries()? {
            let mut entry = entry?;
            end = entry
                .raw_file_position()
                .checked_add(entry.size())
                .filter(|&end| end <= bytes.len() as u64)
                .ok_or_else(truncated)?
                .next_multiple_of(BLOCK);
            let kind = entry.header().entry_type();
            if !kind.is_file() && !kind.is_pax_global_extensions() {
                continue;
            }
            let mut content = Vec::new();
            entry.read_to_end(&mut content)?;
            if kind.is_file() {
                let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                archive.files.push((path, content));
            } else {
                archive.commit = commit(&content);
            }
        }
        let end = usize::try_from(end).map_err(|_| truncated())?;
        let last = bytes.get(end..end + BLOCK as usize).ok_or_else(truncated)?;
        if last.iter().any(|&byte| byte != 0) {
            return Err(truncated());
        }
        Ok(archive)
    }
}

/// Returns the commit that a global header records as a comment.
fn commit(header: &[u8]) -> Option<String> {
    tar::PaxExtensions::new(header)
        .filter_map(Result::ok)
        .find(|extension| extension.key_bytes() == b"comment")
        .and_then(|extension| extension.value().ok().map(str::to_owned))
        .filter(|commit| {
            commit.len() == 40 && commit.chars().all(|digit| digit.is_ascii_hexdigit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a tar file. An entry of type `g` is a global header.
    fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, kind, content) in entries {
            let mut header = [0u8; BLOCK as usize];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            header[156] = *kind;
            header[148..156].fill(b' ');
            let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
            header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
            bytes.extend(header);
            bytes.extend(*content);
            bytes.resize(bytes.len().next_multiple_of(BLOCK as usize), 0);
        }
        bytes.extend([0; 2 * BLOCK as usize]);
        bytes
    }

    #[test]
    fn archive_contains_files_and_commit() {
        let comment = format!("52 comment={}\n", "ab".repeat(20));
        let file = tar(&[
            ("pax_global_header", b'g', comment.as_bytes()),
            ("r/data/", b'5', b""),
            ("r/data/training/link.json", b'2', b""),
            ("r/data/training/a.json", b'0', b"{}"),
        ]);
        let archive = Archive::read(&file).unwrap();
        assert_eq!(archive.commit, Some("ab".repeat(20)));
        assert_eq!(
            archive.files,
            [("r/data/training/a.json".to_owned(), b"{}".to_vec())]
        );
    }

    #[test]
    fn corrupt_archives_are_rejected() {
        let good = tar(&[("a", b'0', &[1; 700])]);
        assert!(Archive::read(&good[..600]).is_err());
        assert!(Archive::read(&good[..good.len() - 2 * BLOCK as usize]).is_err());
        let mut bad = good;
        bad[10] ^= 1;
        assert!(Archive::read(&bad).is_err());
        assert!(Archive::read(b"").is_err());
    }
}
