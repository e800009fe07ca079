//! The pages of the web app as pure functions from data to HTML, with the scripts, styles and
//! images that they use embedded in the binary.
//!
//! Each page is one function: [`gallery_page`], [`play_page()`], [`replay_page()`],
//! [`file_replay_page`], [`watch_list_page`], [`watch_page()`], [`cards_page()`], [`card_page()`],
//! [`sign_in_page()`], [`invitation_page`] and [`error_page`]. The pages of human studies are
//! [`sitting_page()`] for participants, and [`studies_page`] and the pages of one study for
//! researchers. [`boards_page`], [`board_page()`] and [`board_entry_page`] show leaderboards. All of them except [`invitation_page`] and [`sitting_page()`] take a [`Viewer`], which determines the sign-in link in the header.
//! [`asset()`] returns an embedded file by its name, and [`card_csv()`] renders a scorecard as CSV.
//!
//! # Invariants
//!
//! * **Server-rendered.** Static content is part of the HTML and readable without JavaScript.
//!   Boards and players are custom elements. They and the other dynamic parts are implemented in
//!   plain ES modules. There is no build step and no framework.
//! * **Strict content security policy** ([`CONTENT_SECURITY_POLICY`]): no inline scripts or styles,
//!   and nothing from other hosts.
//! * **All external text in the HTML is escaped** by the template engine. The templates are in
//!   `templates/`, one per page.
//! * **Small.** All assets together are below 150 KB uncompressed; a test checks this.
//!
//! This crate deliberately knows nothing about requests, cookies, permissions or the database.
//!
//! # Examples
//!
//! ```
//! use rhae_web::{GalleryFilter, GalleryGame, InputKind, Viewer, asset, gallery_page};
//!
//! let game = GalleryGame {
//!     id: "ab12-v1".to_owned(),
//!     name: "ab12".to_owned(),
//!     input: InputKind::Keys,
//!     levels: 5,
//!     completed: Some(2),
//!     source_changed: false,
//! };
//! let html = gallery_page(Viewer::OpenAccess, &[game], GalleryFilter::default());
//! assert!(html.contains("href=\"/play/ab12-v1\""));
//!
//! // Pages refer to embedded files under `/assets/`.
//! assert!(html.contains("/assets/site.css"));
//! assert_eq!(asset("site.css").unwrap().content_type, "text/css; charset=utf-8");
//! ```

mod asset;
mod board_page;
mod card_csv;
mod card_page;
mod cards_page;
mod gallery;
mod links_page;
mod page;
mod play_page;
mod replay_page;
mod sign_in_page;
mod sitting_page;
mod study_chart;
mod study_page;
mod tree;
mod watch_page;

pub use asset::{Asset, asset};
pub use board_page::{
    BoardReplayView, ROWS_PER_PAGE, board_entry_page, board_page, board_replay_page, boards_page,
};
pub use card_csv::card_csv;
pub use card_page::{CardView, card_page};
pub use cards_page::{CardRow, cards_page};
pub use gallery::{GalleryFilter, GalleryGame, InputKind, gallery_page};
pub use links_page::{LinkRow, links_page};
pub use page::{CONTENT_SECURITY_POLICY, NavItem, Viewer};
pub use play_page::play_page;
pub use replay_page::{ReplayView, file_replay_page, replay_page};
pub use sign_in_page::{error_page, invitation_page, sign_in_page};
pub use sitting_page::{Place, sitting_page};
pub use study_page::{
    studies_page, study_baselines_page, study_coverage_page, study_data_page,
    study_environment_page, study_live_page, study_payments_page, study_results_page,
    study_sessions_page, study_setup_page, study_sittings_page,
};
pub use watch_page::{WatchRow, WatchView, watch_list_page, watch_page};
