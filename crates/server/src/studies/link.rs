//! The tokens of links for participants.
//!
//! A token consists of 40 hexadecimal digits: 8 that name the study, and a secret of 128 bits. A
//! participant's pseudonym is a hash of the token, so the database contains no token, and a
//! pseudonym does not reveal one. The tokens of recruiting sites and seats are computed with the
//! identity key.
//!
//! **Invariant:** looking up a link changes nothing. A link is used up when its holder sees the
//! first frame of an environment.

use std::sync::PoisonError;

use rhae_protocol::{ArrivalLink, ParticipantId, SeatLink, SiteId, StudyId, StudyLinks};
use rhae_study::{Study, StudyState};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Studies;
use crate::ApiError;

const TAG_DIGITS: usize = 8;
const SECRET_BYTES: usize = 16;
/// The number of hexadecimal digits of a pseudonym, apart from its prefix.
const PSEUDONYM_DIGITS: usize = 24;

/// A token as it appears in a link. It is never logged.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LinkToken(String);

impl LinkToken {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let plain = text.len() == TAG_DIGITS + 2 * SECRET_BYTES && text.bytes().all(digit);
        plain.then(|| Self(text.to_owned()))
    }

    /// Generates a token from the operating system's random source.
    pub(super) fn generate(study: &StudyId) -> Result<Self, ApiError> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| ApiError::Failed(error.to_string()))?;
        Ok(Self::new(study, &hex::encode(secret)))
    }

    pub(super) fn new(study: &StudyId, secret: &str) -> Self {
        Self(format!("{}{secret}", tag(study)))
    }

    fn tag(&self) -> &str {
        &self.0[..TAG_DIGITS]
    }

    /// The pseudonym of the person whose link this is.
    pub(super) fn participant(&self) -> ParticipantId {
        let hash = Sha256::new()
            .chain_update("rhae participant ")
            .chain_update(&self.0)
            .finalize();
        let digits = hex::encode(hash);
        ParticipantId(format!("p-{}", &digits[..PSEUDONYM_DIGITS]))
    }

    /// The path of the page.
    pub(super) fn path(&self) -> String {
        format!("/s/{}", self.0)
    }

    fn is(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

/// The digits by which tokens name their study.
fn tag(study: &StudyId) -> String {
    let hash = Sha256::new()
        .chain_update("rhae study ")
        .chain_update(study.as_str())
        .finalize();
    hex::encode(&hash[..TAG_DIGITS / 2])
}

/// What a link is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    Person(ParticipantId),
    /// All people whom the recruiting platform of a site sends.
    Arrivals(SiteId),
    /// The participant at a seat; `None` if no participant is checked in.
    Seat(u32, Option<ParticipantId>),
}

impl Studies {
    /// Returns the study and the target of a link.
    pub(super) async fn resolve(
        &self,
        token: &LinkToken,
    ) -> Result<(StudyId, LinkTarget), ApiError> {
        let (study, target, ()) = self.resolve_with(token, |_, _| ()).await?;
        Ok((study, target))
    }

    /// Returns the study and the target of a link, and what `read` finds in the study at the same
    /// moment. Every look at a study asks the store for newer records, so one is better than two.
    pub(super) async fn resolve_with<T>(
        &self,
        token: &LinkToken,
        read: impl FnOnce(&Study, &LinkTarget) -> T,
    ) -> Result<(StudyId, LinkTarget, T), ApiError> {
        let study = self.study_of(token).await?.ok_or(ApiError::NoSuchLink)?;
        let found = self.read(&study, |one| {
            let target = self.target(one.state(), token)?;
            let found = read(one, &target);
            Some((target, found))
        });
        let (target, found) = found.await?.ok_or(ApiError::NoSuchLink)?;
        Ok((study, target, found))
    }

    async fn study_of(&self, token: &LinkToken) -> Result<Option<StudyId>, ApiError> {
        let known = || {
            let tags = self.tags.lock();
            let tags = tags.unwrap_or_else(PoisonError::into_inner);
            tags.get(token.tag()).cloned()
        };
        if let Some(study) = known() {
            return Ok(Some(study));
        }
        let listed = self.service()?.list().await?;
        let found = listed.into_iter().map(|study| (tag(&study), study));
        let found = found.collect();
        *self.tags.lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(known())
    }

    fn target(&self, state: &StudyState, token: &LinkToken) -> Option<LinkTarget> {
        let participant = token.participant();
        if state.participants.contains_key(&participant) || state.erased.contains_key(&participant)
        {
            return Some(LinkTarget::Person(participant));
        }
        self.identities.as_ref()?;
        state.sites.iter().find_map(|(site, found)| {
            if self.arrival_token(&state.id, site)?.is(token) {
                return Some(LinkTarget::Arrivals(site.clone()));
            }
            let is_seat = |seat: &u32| {
                let expected = self.seat_token(&state.id, site, *seat);
                expected.is_some_and(|expected| expected.is(token))
            };
            let seat = (1..=found.seats).find(is_seat)?;
            Some(LinkTarget::Seat(seat, seated(state, site, seat).cloned()))
        })
    }

    /// Returns the token of the link of a recruiting site; `None` without an identity key.
    pub(super) fn arrival_token(&self, study: &StudyId, site: &SiteId) -> Option<LinkToken> {
        let key = &self.identities.as_ref()?.key;
        let secret = key.link_secret(study, &["arrivals", site.as_str()]);
        Some(LinkToken::new(study, &secret))
    }

    fn seat_token(&self, study: &StudyId, site: &SiteId, seat: u32) -> Option<LinkToken> {
        let key = &self.identities.as_ref()?.key;
        let secret = key.link_secret(study, &["seat", site.as_str(), &seat.to_string()]);
        Some(LinkToken::new(study, &secret))
    }

    /// Returns the links that several people use.
    pub(crate) async fn links(&self, study: &StudyId) -> Result<StudyLinks, ApiError> {
        if self.identities.is_none() {
            return Err(ApiError::NoIdentityKey);
        }
        self.read(study, |one| {
            let (mut arrivals, mut seats) = (Vec::new(), Vec::new());
            for (site, found) in &one.state().sites {
                let arrival = self.arrival_token(study, site).map(|token| ArrivalLink {
                    site: site.clone(),
                    path: token.path(),
                });
                arrivals.extend(arrival);
                seats.extend((1..=found.seats).filter_map(|seat| {
                    let token = self.seat_token(study, site, seat)?;
                    Some(SeatLink {
                        site: site.clone(),
                        seat,
                        path: token.path(),
                    })
                }));
            }
            StudyLinks { arrivals, seats }
        })
        .await
    }
}

/// Returns who was checked in at a seat, in the latest session in which it was taken.
fn seated<'a>(state: &'a StudyState, site: &SiteId, seat: u32) -> Option<&'a ParticipantId> {
    let sessions = state.sessions.values().filter(|one| one.site == *site);
    let taken = sessions.filter_map(|one| Some((one.starts_ms, one.seats.get(&seat)?)));
    let latest = taken.max_by_key(|(starts_ms, _)| *starts_ms)?;
    Some(latest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_names_its_study_and_hides_behind_the_pseudonym() {
        let study = StudyId::from("lab");
        let token = LinkToken::generate(&study).unwrap();
        let path = token.path();
        let text = path.strip_prefix("/s/").unwrap();
        let parsed = LinkToken::parse(text).unwrap();
        assert!(parsed.is(&token) && parsed.tag() == tag(&study));
        assert_eq!(parsed.participant(), token.participant());
        assert!(!text.contains(&token.participant().as_str()[2..]));
        let other = LinkToken::generate(&study).unwrap();
        assert!(!other.is(&token) && other.participant() != token.participant());
        for form in ["", &text[1..], &text.to_uppercase(), &format!("{text}0")] {
            let is_token = LinkToken::parse(form).is_some();
            assert!(!is_token || form == text, "{form}");
        }
    }
}
