//! Timestamps as text, in UTC.

/// Formats a Unix time in milliseconds as `2026-11-15T10:00:00.000Z`.
///
/// ```
/// assert_eq!(rhae_protocol::rfc3339_utc(951_782_400_000), "2000-02-29T00:00:00.000Z");
/// ```
pub fn rfc3339_utc(unix_ms: u64) -> String {
    let (year, month, day, seconds) = civil(unix_ms);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        unix_ms % 1000
    )
}

/// Formats a Unix time in milliseconds as `20261115-100000`, for folder names.
pub fn compact_utc(unix_ms: u64) -> String {
    let (year, month, day, seconds) = civil(unix_ms);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Returns year, month, day and second of the day in the Gregorian calendar.
///
/// The computation counts years from March, so that the leap day is the last day of a year, in eras
/// of 400 years, which all have the same number of days.
fn civil(unix_ms: u64) -> (u64, u64, u64, u64) {
    const DAYS_FROM_MARCH_0000: u64 = 719_468;
    const DAYS_PER_ERA: u64 = 146_097;
    let seconds = unix_ms / 1000;
    let days = seconds / 86_400 + DAYS_FROM_MARCH_0000;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (
        era * 400 + year_of_era + u64::from(month <= 2),
        month,
        day,
        seconds % 86_400,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_century_years_are_formatted() {
        assert_eq!(rfc3339_utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339_utc(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(rfc3339_utc(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339_utc(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(compact_utc(1_794_736_800_123), "20261115-100000");
    }
}
