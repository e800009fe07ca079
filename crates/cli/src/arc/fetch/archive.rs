//! Downloading and reading a repository's archive, a gzip-compressed tar file.

use std::io::Read;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use rhae_tasks::{SourceFile, TaskSet, load};
use sha2::{Digest, Sha256};
use ureq::Agent;
use ureq::http::Uri;

use super::record::{Origin, hex};

/// Maximum sizes of an archive, compressed and unpacked. The archives of the known repositories are
/// far smaller.
const MAX_ARCHIVE_BYTES: u64 = 64 << 20;
const MAX_UNPACKED_BYTES: u64 = 512 << 20;

/// Block size of a tar file in bytes.
const BLOCK: usize = 512;

/// Fetches the training and evaluation sets of a repository at a commit.
pub(super) fn fetch(
    server: &str,
    repository: &str,
    commit: &str,
    corpus: &str,
) -> Result<Vec<(TaskSet, Origin)>> {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/');
    ensure!(
        !commit.is_empty() && commit.chars().all(allowed) && !commit.contains(".."),
        "`{commit}` is not a commit"
    );
    let url = format!(
        "{}/{repository}/archive/{commit}.tar.gz",
        server.trim_end_matches('/')
    );
    let packed = download(&url)?;
    let sha256 = hex(&Sha256::digest(&packed));
    let mut bytes = Vec::new();
    let mut unpacked = GzDecoder::new(packed.as_slice()).take(MAX_UNPACKED_BYTES + 1);
    unpacked
        .read_to_end(&mut bytes)
        .with_context(|| format!("`{url}` is not a complete gzip file"))?;
    ensure!(
        bytes.len() as u64 <= MAX_UNPACKED_BYTES,
        "`{url}` unpacks to more than {MAX_UNPACKED_BYTES} bytes"
    );
    let archive = Archive::read(&bytes).with_context(|| format!("`{url}` is not a tar file"))?;
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
        ensure!(!files.is_empty(), "`{url}` has no tasks in data/{split}");
        let mut loaded =
            load(&files).with_context(|| format!("cannot load the tasks of `{url}`"))?;
        let mut set = loaded.sets.pop().context("the archive has tasks")?;
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

fn download(url: &str) -> Result<Vec<u8>> {
    let address: Uri = url
        .parse()
        .with_context(|| format!("`{url}` is not a URL"))?;
    let local = address
        .host()
        .is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host));
    ensure!(
        address.scheme_str() == Some("https") || local,
        "`{url}` must start with https://"
    );
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(!local)
        .timeout_global(Some(Duration::from_secs(300)));
    let agent: Agent = config.build().into();
    let mut response = agent
        .get(url)
        .call()
        .with_context(|| format!("cannot download `{url}`"))?;
    match response.status().as_u16() {
        200 => {}
        404 => bail!("`{url}` does not exist (404); check the commit"),
        status => bail!("`{url}` returned status {status}"),
    }
    let body = response
        .body_mut()
        .with_config()
        .limit(MAX_ARCHIVE_BYTES)
        .read_to_vec();
    body.with_context(|| format!("cannot download `{url}`; the limit is {MAX_ARCHIVE_BYTES} bytes"))
}

/// The contents of a tar file.
struct Archive<'a> {
    files: Vec<(String, &'a [u8])>,
    /// Commit recorded in the archive's global header.
    commit: Option<String>,
}

impl<'a> Archive<'a> {
    /// Reads all regular files of a tar file and skips links, folders and other entries.
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut archive = Self {
            files: Vec::new(),
            commit: None,
        };
        let mut at = 0;
        while let Some(header) = bytes.get(at..at + BLOCK) {
            if header.iter().all(|&byte| byte == 0) {
                return Ok(archive);
            }
            let sum: u64 = header
                .iter()
                .enumerate()
                .map(|(index, &byte)| {
                    if (148..156).contains(&index) {
                        32
                    } else {
                        u64::from(byte)
                    }
                })
                .sum();
            ensure!(
                octal(&header[148..156])? == sum,
                "the header at byte {at} is corrupt"
            );
            let size = usize::try_from(octal(&header[124..136])?)?;
            let start = at + BLOCK;
            let end = start
                .checked_add(size)
                .filter(|&end| end <= bytes.len())
                .context("a file in the archive is truncated")?;
            let content = &bytes[start..end];
            match header[156] {
                b'0' | 0 => {
                    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
                    let path = if prefix.is_empty() {
                        name
                    } else {
                        format!("{prefix}/{name}")
                    };
                    archive.files.push((path, content));
                }
                b'g' => {
                    let comment = String::from_utf8_lossy(content);
                    let commit = comment.lines().find_map(|line| {
                        line.split_once(" comment=")
                            .map(|(_, commit)| commit.trim().to_owned())
                    });
                    let valid = |commit: &String| {
                        commit.len() == 40 && commit.chars().all(|digit| digit.is_ascii_hexdigit())
                    };
                    archive.commit = commit.filter(valid);
                }
                _ => {}
            }
            at = end.div_ceil(BLOCK) * BLOCK;
        }
        bail!("the archive is truncated")
    }
}

fn text(field: &[u8]) -> String {
    let end = field
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn octal(field: &[u8]) -> Result<u64> {
    let digits = text(field);
    u64::from_str_radix(digits.trim(), 8)
        .with_context(|| format!("`{}` is not a number", digits.escape_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a tar file. An entry of type `g` is a global header.
    fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, kind, content) in entries {
            let mut header = [0u8; BLOCK];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
            header[156] = *kind;
            header[148..156].fill(b' ');
            let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
            header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
            bytes.extend(header);
            bytes.extend(*content);
            bytes.resize(bytes.len().div_ceil(BLOCK) * BLOCK, 0);
        }
        bytes.extend([0; 2 * BLOCK]);
        bytes
    }

    #[test]
    fn archive_contains_files_and_commit() {
        let comment = format!("52 comment={}\n", "ab".repeat(20));
        let file = tar(&[
            ("pax_global_header", b'g', comment.as_bytes()),
            ("r/data/", b'5', b""),
            ("r/data/training/a.json", b'0', b"{}"),
        ]);
        let archive = Archive::read(&file).unwrap();
        assert_eq!(archive.commit, Some("ab".repeat(20)));
        assert_eq!(
            archive.files,
            [("r/data/training/a.json".to_owned(), b"{}".as_slice())]
        );
    }

    #[test]
    fn corrupt_archives_are_rejected() {
        let good = tar(&[("a", b'0', &[1; 700])]);
        assert!(Archive::read(&good[..600]).is_err());
        assert!(Archive::read(&good[..good.len() - 2 * BLOCK]).is_err());
        let mut bad = good;
        bad[10] ^= 1;
        assert!(Archive::read(&bad).is_err());
        assert!(Archive::read(b"").is_err());
    }
}
