//! Amounts of money as text.

/// Returns an amount in minor units as text with its currency, such as `150.00 USD`.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{amount_text, money_text};
///
/// assert_eq!(money_text(15_000, "USD"), "150.00 USD");
/// assert_eq!(money_text(-5, "EUR"), "-0.05 EUR");
/// assert_eq!(amount_text(700, "JPY"), "700");
/// ```
pub fn money_text(minor: i64, currency: &str) -> String {
    format!("{} {currency}", amount_text(minor, currency))
}

/// Returns an amount in minor units as a decimal number without the currency.
pub fn amount_text(minor: i64, currency: &str) -> String {
    let digits = minor_digits(currency);
    if digits == 0 {
        return minor.to_string();
    }
    let unit = 10_u64.pow(digits);
    let sign = if minor < 0 { "-" } else { "" };
    let (whole, part) = (minor.unsigned_abs() / unit, minor.unsigned_abs() % unit);
    let width = usize::try_from(digits).unwrap_or(2);
    format!("{sign}{whole}.{part:0width$}")
}

/// Returns the number of digits of the minor unit by ISO 4217.
fn minor_digits(currency: &str) -> u32 {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX"
        | "UYI" | "VND" | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_follow_the_currency() {
        assert_eq!(amount_text(1_234_567, "KWD"), "1234.567");
        assert_eq!(amount_text(0, "USD"), "0.00");
        assert_eq!(amount_text(i64::MIN, "ISK"), i64::MIN.to_string());
    }
}
