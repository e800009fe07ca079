//! Ids of runs.

use crate::RunsError;

/// Creates a random run id.
///
/// # Errors
///
/// Returns [`RunsError::Randomness`] if the system provides no randomness.
pub fn new_run_id() -> Result<String, RunsError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| RunsError::Randomness(error.to_string()))?;
    Ok(format_uuid(u128::from_be_bytes(bytes)))
}

/// Formats 128 bits as a version 4 UUID, which official clients expect.
///
/// # Examples
///
/// ```
/// assert_eq!(rhae_runs::format_uuid(0), "00000000-0000-4000-8000-000000000000");
/// ```
pub fn format_uuid(bits: u128) -> String {
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
    fn random_ids_differ() {
        assert_ne!(new_run_id().unwrap(), new_run_id().unwrap());
    }
}
