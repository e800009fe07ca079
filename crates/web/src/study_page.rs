//! The pages of researchers: studies, their setup, what happens now, results and data.
//!
//! Every page shows a document of the REST API, and its forms send requests of the REST API, so the
//! same permissions apply.

use askama::Template;
use rhae_protocol::{
    BandCount, BaselineFile, EnvironmentCoverage, EnvironmentResults, FrozenStatus, LevelClicks,
    LiveSitting, ParticipantId, SessionRow, SittingRow, StudyCheck, StudyListing, StudyOverview,
    StudyPayments, StudyPermission, StudyResults, amount_text, money_text, rfc3339_utc,
};

use crate::page::{NavItem, Page, Time, Viewer, render};
use crate::study_chart::{ActionsChart, ClickMap, DurationChart};

/// The tabs of a study, with their paths below it.
const TABS: [(&str, &str); 9] = [
    ("Setup", ""),
    ("Sessions", "/sessions"),
    ("Live", "/live"),
    ("Coverage", "/coverage"),
    ("Results", "/results"),
    ("Sittings", "/sittings"),
    ("Payments", "/payments"),
    ("Baselines", "/baselines"),
    ("Data", "/data"),
];

#[derive(Template)]
#[template(path = "studies.html")]
struct Studies<'a> {
    page: Page<'a>,
    studies: &'a [StudyListing],
    environments: &'a [String],
}

/// Renders the list of studies. `environments` can be part of a new study.
pub fn studies_page(viewer: Viewer, studies: &[StudyListing], environments: &[String]) -> String {
    render(&Studies {
        page: page("Studies", viewer),
        studies,
        environments,
    })
}

fn page(title: &str, viewer: Viewer) -> Page<'_> {
    Page {
        title,
        nav: NavItem::Other,
        viewer,
        script: Some("study_admin.js"),
        preload: None,
    }
}

/// Declares a page of a study: its template and tab, and the document that it shows.
macro_rules! study_pages {
    ($($(#[$doc:meta])* $function:ident($field:ident: $document:ty) = $name:ident, $path:literal, $tab:literal;)*) => {$(
        #[derive(Template)]
        #[template(path = $path)]
        struct $name<'a> {
            page: Page<'a>,
            tab: &'static str,
            study: &'a StudyOverview,
            $field: &'a $document,
        }

        $(#[$doc])*
        pub fn $function(viewer: Viewer, study: &StudyOverview, $field: &$document) -> String {
            render(&$name {
                page: page(&study.listing.title, viewer),
                tab: $tab,
                study,
                $field,
            })
        }
    )*};
}

study_pages! {
    /// Renders the setup of a study with its check.
    study_setup_page(check: StudyCheck) = Setup, "study_setup.html", "";
    /// Renders the open sittings.
    study_live_page(sittings: [LiveSitting]) = Live, "study_live.html", "/live";
    /// Renders how far every environment is.
    study_coverage_page(environments: [EnvironmentCoverage]) = Coverage, "study_coverage.html", "/coverage";
    /// Renders the numbers of the whole study.
    study_results_page(results: StudyResults) = Results, "study_results.html", "/results";
    /// Renders all sittings, for review.
    study_sittings_page(sittings: [SittingRow]) = Sittings, "study_sittings.html", "/sittings";
    /// Renders the ledger.
    study_payments_page(payments: StudyPayments) = Payments, "study_payments.html", "/payments";
    /// Renders the baselines that the next publication would contain.
    study_baselines_page(file: BaselineFile) = Baselines, "study_baselines.html", "/baselines";
}

#[derive(Template)]
#[template(path = "study_environment.html")]
struct Environment<'a> {
    page: Page<'a>,
    tab: &'static str,
    study: &'a StudyOverview,
    environment: &'a EnvironmentResults,
    durations: DurationChart,
    actions: ActionsChart,
    maps: Vec<ClickMap>,
}

/// Renders the results of an environment, with the places where people clicked.
pub fn study_environment_page(
    viewer: Viewer,
    study: &StudyOverview,
    environment: &EnvironmentResults,
    clicks: &[LevelClicks],
) -> String {
    render(&Environment {
        page: page(&study.listing.title, viewer),
        tab: "/coverage",
        study,
        environment,
        durations: DurationChart::new(&environment.durations),
        actions: ActionsChart::new(&environment.by_level),
        maps: clicks.iter().map(ClickMap::new).collect(),
    })
}

#[derive(Template)]
#[template(path = "study_sessions.html")]
struct Sessions<'a> {
    page: Page<'a>,
    tab: &'static str,
    study: &'a StudyOverview,
    sessions: Vec<PlannedSession<'a>>,
}

/// A session of the calendar.
struct PlannedSession<'a> {
    row: &'a SessionRow,
    /// RFC 3339.
    starts_at: String,
}

impl PlannedSession<'_> {
    fn start(&self) -> Time<'_> {
        Time {
            rfc3339: &self.starts_at,
        }
    }
}

/// Renders the calendar with its check-in lists.
pub fn study_sessions_page(viewer: Viewer, study: &StudyOverview) -> String {
    render(&Sessions {
        page: page(&study.listing.title, viewer),
        tab: "/sessions",
        study,
        sessions: study
            .sessions
            .iter()
            .map(|row| PlannedSession {
                row,
                starts_at: rfc3339_utc(row.starts_ms),
            })
            .collect(),
    })
}

impl Sessions<'_> {
    fn may_plan(&self) -> bool {
        let mut permissions = self.study.permissions.iter();
        permissions.any(|&one| one == StudyPermission::ManagePool)
    }
}

/// A person on the check-in list of a session.
struct ExpectedPerson<'a> {
    participant: &'a ParticipantId,
    booked: bool,
    seat: Option<u32>,
}

/// Returns the people who are booked for a session or present in it.
fn expected(session: &SessionRow) -> Vec<ExpectedPerson<'_>> {
    let booked = session.booked.iter().map(|participant| ExpectedPerson {
        participant,
        booked: true,
        seat: session
            .seats
            .iter()
            .find_map(|(&seat, one)| (one == participant).then_some(seat)),
    });
    let others = session.seats.iter();
    let others = others.filter(|(_, participant)| !session.booked.contains(participant));
    let others = others.map(|(&seat, participant)| ExpectedPerson {
        participant,
        booked: false,
        seat: Some(seat),
    });
    booked.chain(others).collect()
}

#[derive(Template)]
#[template(path = "study_data.html")]
struct Data<'a> {
    page: Page<'a>,
    tab: &'static str,
    study: &'a StudyOverview,
}

/// Renders the exports, the frozen protocols and the log.
pub fn study_data_page(viewer: Viewer, study: &StudyOverview) -> String {
    render(&Data {
        page: page(&study.listing.title, viewer),
        tab: "/data",
        study,
    })
}

impl Setup<'_> {
    fn role(&self) -> String {
        let role = serde_json::to_value(self.study.role).unwrap_or_default();
        role.as_str().unwrap_or_default().replace('_', " ")
    }

    fn money(&self, minor: &u64) -> String {
        let protocol = self.study.protocol.as_ref();
        let currency = protocol.map_or("", |protocol| protocol.money.currency.as_str());
        money_text(i64::try_from(*minor).unwrap_or(i64::MAX), currency)
    }

    fn protocol_json(&self) -> String {
        let protocol = self.study.protocol.as_ref();
        protocol
            .and_then(|protocol| serde_json::to_string_pretty(protocol).ok())
            .unwrap_or_default()
    }
}

impl Results<'_> {
    fn durations(&self) -> DurationChart {
        DurationChart::new(&self.results.durations)
    }
}

impl Payments<'_> {
    fn money(&self, minor: &i64) -> String {
        let currency = self.payments.money.currency.as_str();
        if currency.is_empty() {
            return amount_text(*minor, currency);
        }
        money_text(*minor, currency)
    }
}

impl Data<'_> {
    fn frozen(&self) -> Option<&[FrozenStatus]> {
        let protocol = self.study.status.as_ref()?.protocol.as_ref()?;
        (!protocol.frozen.is_empty()).then_some(protocol.frozen.as_slice())
    }
}

fn percent(share: &f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn decimal(number: &f64) -> String {
    format!("{number:.2}")
}

fn minutes(ms: &u64) -> String {
    format!("{:.1}", *ms as f64 / 60_000.0)
}

fn tenths(tenths: &u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn count(count: &Option<u32>) -> String {
    count.map_or_else(|| "–".to_owned(), |count| count.to_string())
}

/// Returns the minutes of a median, or a dash.
fn median_minutes(minutes: &Option<f64>) -> String {
    minutes
        .as_ref()
        .map_or_else(|| "–".to_owned(), |minutes| format!("{minutes:.1}"))
}

/// Returns the people of the largest band, to which bars are scaled.
fn largest_band(bands: &[BandCount]) -> u64 {
    let people = bands.iter().filter_map(|band| band.people);
    people.max().unwrap_or(1).max(1)
}

fn stage(sitting: &SittingRow) -> &'static str {
    sitting.stage.name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_without_false_precision() {
        assert_eq!(percent(&0.6242), "62 %");
        assert_eq!(minutes(&90_000), "1.5");
        assert_eq!(
            (tenths(&26), count(&None)),
            ("2.6".to_owned(), "–".to_owned())
        );
    }
}
