//! Ids of runs, scorecards and plays.

use xxhash_rust::xxh3::xxh3_128;

use crate::HarnessError;

/// Creates a random run id.
///
/// # Errors
///
/// Returns [`HarnessError::Randomness`] if the system provides no randomness.
pub fn new_run_id() -> Result<String, HarnessError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| HarnessError::Randomness(error.to_string()))?;
    Ok(format_uuid(u128::from_be_bytes(bytes)))
}

/// Returns the id of the play of the environment `name`, or the id of the scorecard if `name` is
/// `card`. The id is a hash of the arguments, so a resumed run uses the same ids.
///
/// # Examples
///
/// ```
/// use rhae_harness::play_id;
///
/// assert_eq!(play_id("run", 1, "kq19-v1"), play_id("run", 1, "kq19-v1"));
/// assert_ne!(play_id("run", 1, "kq19-v1"), play_id("run", 2, "kq19-v1"));
/// ```
pub fn play_id(run_id: &str, repeat: u32, name: &str) -> String {
    format_uuid(xxh3_128(format!("{run_id}/{repeat}/{name}").as_bytes()))
}

/// Formats 128 bits as a version 4 UUID, which official clients expect.
fn format_uuid(bits: u128) -> String {
    let bits = bits & !(0xF << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_uuids() {
        assert_eq!(format_uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_ne!(play_id("a", 1, "ab12-v1"), play_id("a", 2, "ab12-v1"));
        assert_eq!(play_id("a", 1, "ab12-v1"), play_id("a", 1, "ab12-v1"));
        assert_ne!(new_run_id().unwrap(), new_run_id().unwrap());
    }
}
