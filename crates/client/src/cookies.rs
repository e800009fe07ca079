//! The cookies of one server, which are sent back to it.
//!
//! Load balancers use cookies to pin a session to a machine; the client keeps them for that purpose
//! only. All requests go to a single address, so the domain and path attributes are ignored.
//! **Invariant:** the number and the size of cookies are limited, and no cookie can inject other
//! content into a header.

use std::collections::BTreeMap;

const MAX_COOKIES: usize = 50;
/// The maximum size of one cookie, name and value together.
const MAX_COOKIE_BYTES: usize = 4096;

/// Cookies by name.
#[derive(Debug, Default)]
pub(crate) struct Cookies(BTreeMap<String, String>);

impl Cookies {
    /// Applies a `Set-Cookie` header. Invalid cookies are ignored.
    pub(crate) fn store(&mut self, header: &str) {
        let mut parts = header.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let (name, value) = (name.trim(), value.trim());
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b',' && byte != b';')
        };
        if name.is_empty()
            || name.len() + value.len() > MAX_COOKIE_BYTES
            || !plain(name)
            || !plain(value)
        {
            return;
        }
        let expired = parts
            .filter_map(|part| part.split_once('='))
            .any(|(attribute, value)| {
                attribute.trim().eq_ignore_ascii_case("max-age")
                    && value
                        .trim()
                        .parse::<i64>()
                        .is_ok_and(|seconds| seconds <= 0)
            });
        if expired || value.is_empty() {
            self.0.remove(name);
        } else if self.0.len() < MAX_COOKIES || self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns the value of the `Cookie` header, or `None` if there are no cookies.
    pub(crate) fn header(&self) -> Option<String> {
        let pairs: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(headers: &[&str]) -> Option<String> {
        let mut cookies = Cookies::default();
        headers.iter().for_each(|header| cookies.store(header));
        cookies.header()
    }

    #[test]
    fn cookies_are_sent_back_until_they_expire() {
        let set = [
            "AWSALB=a/b+c==; Expires=Mon, 23 Nov 2026 00:00:00 GMT; Path=/",
            "AWSALBCORS=d; SameSite=None; Secure",
        ];
        assert_eq!(after(&set).unwrap(), "AWSALB=a/b+c==; AWSALBCORS=d");
        assert_eq!(
            after(&["a=1", "b=2", "a=3", "b=4; Max-Age=0"]).unwrap(),
            "a=3"
        );
    }

    #[test]
    fn invalid_and_excess_cookies_are_ignored() {
        assert_eq!(
            after(&["", "a", "=1", "a b=1", "a=1\r\nX-Evil: 1", "a=ü", ";a=1"]),
            None
        );
        let long = format!("a={}", "x".repeat(5000));
        assert_eq!(after(&[&long]), None);
        let many: Vec<String> = (0..500).map(|index| format!("c{index}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(after(&many).unwrap().split("; ").count(), MAX_COOKIES);
    }
}
