//! Ids of scorecards and plays.

use rhae_runs::format_uuid;
use xxhash_rust::xxh3::xxh3_128;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_run_repeat_and_name() {
        assert_ne!(play_id("a", 1, "ab12-v1"), play_id("a", 2, "ab12-v1"));
        assert_eq!(play_id("a", 1, "ab12-v1"), play_id("a", 1, "ab12-v1"));
    }
}
