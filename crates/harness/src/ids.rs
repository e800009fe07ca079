//! Ids of runs, cards and plays.

use xxhash_rust::xxh3::xxh3_128;

use crate::HarnessError;

/// A new run's id, from the system's randomness.
pub fn new_run_id() -> Result<String, HarnessError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| HarnessError::Randomness(error.to_string()))?;
    Ok(uuid_form(u128::from_be_bytes(bytes)))
}

/// The id of something within a run: the same whenever the run is resumed.
pub fn play_id(run_id: &str, repeat: u32, what: &str) -> String {
    uuid_form(xxh3_128(format!("{run_id}/{repeat}/{what}").as_bytes()))
}

/// 128 bits in the form of a version 4 UUID, which official clients expect.
fn uuid_form(bits: u128) -> String {
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
    fn ids_have_the_form_of_a_uuid_and_differ() {
        assert_eq!(uuid_form(0), "00000000-0000-4000-8000-000000000000");
        assert_ne!(play_id("a", 1, "ab12-v1"), play_id("a", 2, "ab12-v1"));
        assert_eq!(play_id("a", 1, "ab12-v1"), play_id("a", 1, "ab12-v1"));
        assert_ne!(new_run_id().unwrap(), new_run_id().unwrap());
    }
}
