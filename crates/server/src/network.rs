//! Where a request comes from, and by which host name it reached the server.
//!
//! Limits per address count the [`ClientAddress`] of a request. It is the address of the peer or, if
//! the peer is a trusted proxy, the one that the proxy reports in `X-Forwarded-For`.
//!
//! **Invariant:** a header of a peer that is not a trusted proxy never changes the address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};

use crate::ApiError;

/// The address for which a limit counts. All IPv6 addresses of a /64 network, which usually belong
/// to one machine or household, are one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress(IpAddr);

impl From<IpAddr> for ClientAddress {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// The address of the peer of a connection, as an extension of its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A range of addresses, such as `10.0.0.0/8` or `::1`.
///
/// # Examples
///
/// ```
/// use rhae_server::AddressRange;
///
/// let range: AddressRange = "10.0.0.0/8".parse()?;
/// assert!(range.contains("10.1.2.3".parse().unwrap()));
/// assert!(!range.contains("11.1.2.3".parse().unwrap()));
/// # Ok::<(), rhae_server::AddressRangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    base: IpAddr,
    prefix: u32,
}

/// The error returned when a text is not an [`AddressRange`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an address or a range of addresses such as 10.0.0.0/8")]
pub struct AddressRangeError(String);

impl AddressRange {
    /// The addresses of this machine.
    pub const LOOPBACK: [Self; 2] = [
        Self {
            base: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)),
            prefix: 8,
        },
        Self {
            base: IpAddr::V6(Ipv6Addr::LOCALHOST),
            prefix: 128,
        },
    ];

    /// Returns whether the range contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits())
                    .checked_shr(32 - self.prefix)
                    .unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits())
                    .checked_shr(128 - self.prefix)
                    .unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }
}

impl FromStr for AddressRange {
    type Err = AddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || AddressRangeError(text.to_owned());
        let (base, prefix) = match text.split_once('/') {
            Some((base, prefix)) => (base, Some(prefix)),
            None => (text, None),
        };
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let bits = if base.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(bits), |prefix| prefix.parse().map_err(|_| wrong()))?;
        if prefix > bits {
            return Err(wrong());
        }
        Ok(Self { base, prefix })
    }
}

/// The proxies that the server trusts, and the host names by which clients may reach it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) trusted_proxies: Vec<AddressRange>,
    /// Host names in lower case, besides those of the loopback interface.
    pub(crate) hosts: Vec<String>,
}

impl Network {
    pub(crate) fn is_trusted_proxy(&self, peer: IpAddr) -> bool {
        self.trusted_proxies
            .iter()
            .any(|range| range.contains(peer))
    }

    /// Returns the address of the client: the last one in `X-Forwarded-For` that is not a trusted
    /// proxy, because everything before it may be forged.
    fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> ClientAddress {
        let mut client = peer;
        let lists = headers.get_all("x-forwarded-for").iter().rev();
        let hops = lists
            .filter_map(|value| value.to_str().ok())
            .flat_map(|list| list.rsplit(','));
        for hop in hops {
            if !self.is_trusted_proxy(client) {
                break;
            }
            let Some(address) = parse_hop(hop.trim()) else {
                break;
            };
            client = address;
        }
        client.into()
    }

    /// Checks that a request names this machine or a configured host. A browser that a foreign
    /// name was resolved to this machine for (DNS rebinding) sends that name.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let headers = headers.get_all(header::HOST).iter();
        // A request without a name passes, because every browser sends the header.
        let names = uri
            .host()
            .into_iter()
            .chain(headers.map(|value| value.to_str().unwrap_or("?")));
        match names.map(host_name).find(|name| !self.is_allowed(name)) {
            Some(name) => Err(ApiError::ForeignHost(name)),
            None => Ok(()),
        }
    }

    fn is_allowed(&self, name: &str) -> bool {
        let address = name.trim_matches(['[', ']']).parse::<IpAddr>();
        name == "localhost"
            || name.ends_with(".localhost")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
            || self.hosts.iter().any(|host| host == name)
    }
}

/// Returns the name in a `Host` header, without the port and in lower case.
fn host_name(host: &str) -> String {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Parses an element of `X-Forwarded-For`: an address, which some proxies write with a port.
fn parse_hop(text: &str) -> Option<IpAddr> {
    text.parse()
        .ok()
        .or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

impl<S: Sync> FromRequestParts<S> for ClientAddress
where
    Arc<Network>: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // A request that did not come over a connection of `listen` has no peer.
        let peer = parts
            .extensions
            .get::<Peer>()
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        Ok(Arc::<Network>::from_ref(state).client_address(peer, &parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let client = |text: &str| ClientAddress::from(ip(text));
        assert_eq!(client("2001:db8:1:2::5"), client("2001:db8:1:2:ffff::1"));
        assert_ne!(client("2001:db8:1:2::5"), client("2001:db8:1:3::5"));
        assert_eq!(client("::ffff:192.0.2.7"), client("192.0.2.7"));
        assert_ne!(client("192.0.2.7"), client("192.0.2.8"));
    }

    #[test]
    fn ranges_contain_their_addresses() {
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("::1", "::1", "127.0.0.1"),
            ("0.0.0.0/0", "::ffff:1.2.3.4", "::1"),
        ] {
            let parsed: AddressRange = range.parse().unwrap();
            assert!(parsed.contains(ip(inside)), "{range}");
            assert!(!parsed.contains(ip(outside)), "{range}");
        }
        for wrong in [
            "",
            "x",
            "10.0.0.0/33",
            "::1/129",
            "10.0.0.0/-1",
            "10.0.0.0/",
        ] {
            assert!(wrong.parse::<AddressRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_trusted_proxies_may_name_the_client() {
        let network = Network {
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            hosts: Vec::new(),
        };
        for (peer, forwarded, expected) in [
            ("192.0.2.1", "198.51.100.9", "192.0.2.1"),
            ("10.0.0.1", "198.51.100.9", "198.51.100.9"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.9", "198.51.100.9"),
            ("10.0.0.1", "198.51.100.9, 10.0.0.2", "198.51.100.9"),
            ("10.0.0.1", "198.51.100.9:4711", "198.51.100.9"),
            ("10.0.0.1", "[2001:db8::7]:80", "2001:db8::"),
            ("10.0.0.1", "nonsense", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", forwarded.parse().unwrap());
            let client = network.client_address(ip(peer), &headers);
            assert_eq!(client, ClientAddress::from(ip(expected)), "{forwarded}");
        }
    }

    #[test]
    fn foreign_host_names_are_refused() {
        let network = Network {
            trusted_proxies: Vec::new(),
            hosts: vec!["arc.example.org".to_owned()],
        };
        let allowed = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            network.check_host(&Uri::from_static("/"), &headers).is_ok()
        };
        for host in [
            "localhost",
            "LOCALHOST:8001",
            "localhost.:8001",
            "rhae.localhost",
            "127.0.0.1:8001",
            "127.9.9.9",
            "[::1]:8001",
            "[::1]",
            "arc.example.org:443",
        ] {
            assert!(allowed(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8001",
            "evil-localhost",
            "192.0.2.1:8001",
            "0.0.0.0:8001",
            "[2001:db8::1]:8001",
            "",
        ] {
            assert!(!allowed(host), "{host}");
        }
        let mut both = HeaderMap::new();
        both.insert(header::HOST, "localhost".parse().unwrap());
        both.append(header::HOST, "evil.example".parse().unwrap());
        assert!(network.check_host(&Uri::from_static("/"), &both).is_err());
        let absolute = Uri::from_static("http://evil.example/api/games");
        assert!(network.check_host(&absolute, &HeaderMap::new()).is_err());
        let relative = Uri::from_static("/api/games");
        assert!(network.check_host(&relative, &HeaderMap::new()).is_ok());
    }
}
