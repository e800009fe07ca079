//! A number of requests per unit of time, as users write it: `5/s`, `300/min` or `10/h`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest number in a rate.
const MAX_NUMBER: f64 = 1e9;
/// The smallest number in a rate.
const MIN_NUMBER: f64 = 1e-6;

/// A rate such as `5/s`, `300/min` or `10/h`. A number without a unit is per second.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use rhae_throttle::Rate;
///
/// let rate: Rate = "300/min".parse()?;
/// assert_eq!(rate.interval(), Duration::from_millis(200));
/// assert_eq!(rate.to_string(), "300/min");
/// assert_eq!("5".parse::<Rate>()?, Rate::per_second(5.0)?);
/// # Ok::<(), rhae_throttle::RateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    number: f64,
    unit: RateUnit,
}

/// The unit of time of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    Second,
    Minute,
    Hour,
}

/// A text that is not a rate, or a number that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a rate; expected a number above 0 with a unit, such as `5/s`, `300/min` or `10/h`"
)]
pub struct RateError(String);

impl RateUnit {
    /// All units, the shortest first.
    pub const ALL: [Self; 3] = [Self::Second, Self::Minute, Self::Hour];

    /// Returns the unit as it is written after the slash.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
        }
    }

    const fn seconds(self) -> f64 {
        match self {
            Self::Second => 1.0,
            Self::Minute => 60.0,
            Self::Hour => 3600.0,
        }
    }
}

impl Rate {
    /// Creates a rate of `number` requests per `unit`.
    ///
    /// # Errors
    ///
    /// Returns an error unless the number is from 0.000001 to a billion.
    pub fn new(number: f64, unit: RateUnit) -> Result<Self, RateError> {
        if (MIN_NUMBER..=MAX_NUMBER).contains(&number) {
            Ok(Self { number, unit })
        } else {
            Err(RateError(format!("{number}/{}", unit.name())))
        }
    }

    /// Creates a rate per second.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Rate::new`].
    pub fn per_second(number: f64) -> Result<Self, RateError> {
        Self::new(number, RateUnit::Second)
    }

    /// Creates a rate per minute.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Rate::new`].
    pub fn per_minute(number: f64) -> Result<Self, RateError> {
        Self::new(number, RateUnit::Minute)
    }

    /// Returns the mean time between requests.
    pub fn interval(self) -> Duration {
        Duration::from_secs_f64(self.unit.seconds() / self.number)
    }

    /// Returns the number of requests in a minute.
    pub fn in_a_minute(self) -> f64 {
        self.number * 60.0 / self.unit.seconds()
    }

    /// Returns the number of requests in a second, rounded up.
    pub(crate) fn in_a_second(self) -> u32 {
        // The number is at most a billion.
        (self.number / self.unit.seconds()).ceil() as u32
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let wrong = || RateError(text.to_owned());
        let (number, unit) = match text.split_once('/') {
            None => (text, RateUnit::Second),
            Some((number, unit)) => {
                let unit = RateUnit::ALL
                    .into_iter()
                    .find(|known| known.name() == unit.trim());
                (number, unit.ok_or_else(wrong)?)
            }
        };
        let number = number.trim().parse().map_err(|_| wrong())?;
        Self::new(number, unit).map_err(|_| wrong())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.unit.name())
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RateVisitor)
    }
}

/// Reads a rate from a text, or from a number per second.
struct RateVisitor;

impl Visitor<'_> for RateVisitor {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate such as \"5/s\", \"300/min\" or a number per second")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Rate, E> {
        Rate::per_second(number).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Rate, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Rate, E> {
        self.visit_f64(number as f64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_are_parsed() {
        let interval = |text: &str| text.parse::<Rate>().unwrap().interval();
        assert_eq!(interval("5/s"), Duration::from_millis(200));
        assert_eq!(interval("5"), Duration::from_millis(200));
        assert_eq!(interval("0.5"), Duration::from_secs(2));
        assert_eq!(interval(" 300 / min "), Duration::from_millis(200));
        assert_eq!(interval("10/h"), Duration::from_secs(360));
        let per_minute = |text: &str| text.parse::<Rate>().unwrap().in_a_minute();
        assert_eq!(
            ["5/s", "300/min", "120/h"].map(per_minute),
            [300.0, 300.0, 2.0]
        );
    }

    #[test]
    fn errors_say_what_was_expected() {
        for text in [
            "", "fast", "5/week", "0/s", "-1", "nan", "inf/s", "5/", "/s", "1e10",
        ] {
            let message = text.parse::<Rate>().unwrap_err().to_string();
            let expected = format!(
                "`{text}` is not a rate; expected a number above 0 with a unit, such as `5/s`, `300/min` or `10/h`"
            );
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn rates_are_read_from_texts_and_numbers() {
        let read = |json: &str| serde_json::from_str::<Rate>(json);
        assert_eq!(
            read("\"300/min\"").unwrap(),
            Rate::per_minute(300.0).unwrap()
        );
        assert_eq!(read("5").unwrap(), Rate::per_second(5.0).unwrap());
        assert_eq!(read("0.5").unwrap(), Rate::per_second(0.5).unwrap());
        let error = read("true").unwrap_err().to_string();
        assert!(error.contains("expected a rate such as"), "{error}");
        assert!(read("-5").is_err() && read("\"5/week\"").is_err());
    }

    proptest! {
        #[test]
        fn written_rate_is_read_back(number in MIN_NUMBER..=MAX_NUMBER, unit in 0..3_usize) {
            let rate = Rate::new(number, RateUnit::ALL[unit]).unwrap();
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            let json = serde_json::to_string(&rate).unwrap();
            prop_assert_eq!(serde_json::from_str::<Rate>(&json).unwrap(), rate);
        }
    }
}
