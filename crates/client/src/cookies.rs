//! The cookies of one server, which are sent back to it.
//!
//! Load balancers pin a session to a machine by cookies; that is all they are kept for. There is one address, so what a cookie
//! says about domains and paths is no matter. **Invariant:** at most so many, at most so long, and none that would break a header.

use std::collections::BTreeMap;

/// The most cookies that are kept.
const MOST: usize = 50;
/// The most bytes of one cookie.
const MOST_BYTES: usize = 4096;

/// Cookies by their names.
#[derive(Debug, Default)]
pub(crate) struct Cookies(BTreeMap<String, String>);

impl Cookies {
    /// Takes in a `Set-Cookie` header. What cannot be a cookie is left out.
    pub(crate) fn take(&mut self, header: &str) {
        let mut parts = header.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else {
            return;
        };
        let (name, value) = (name.trim(), value.trim());
        let plain = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b',' && byte != b';')
        };
        if name.is_empty() || name.len() + value.len() > MOST_BYTES || !plain(name) || !plain(value)
        {
            return;
        }
        let ended = parts
            .filter_map(|part| part.split_once('='))
            .any(|(attribute, value)| {
                attribute.trim().eq_ignore_ascii_case("max-age")
                    && value
                        .trim()
                        .parse::<i64>()
                        .is_ok_and(|seconds| seconds <= 0)
            });
        if ended || value.is_empty() {
            self.0.remove(name);
        } else if self.0.len() < MOST || self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The `Cookie` header, if there are any.
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
        headers.iter().for_each(|header| cookies.take(header));
        cookies.header()
    }

    #[test]
    fn what_a_load_balancer_sets_goes_back() {
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
    fn what_is_no_cookie_is_left_out() {
        assert_eq!(
            after(&["", "a", "=1", "a b=1", "a=1\r\nX-Evil: 1", "a=ü", ";a=1"]),
            None
        );
        let long = format!("a={}", "x".repeat(5000));
        assert_eq!(after(&[&long]), None);
        let many: Vec<String> = (0..500).map(|index| format!("c{index}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(after(&many).unwrap().split("; ").count(), MOST);
    }
}
