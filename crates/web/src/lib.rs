//! The pages of the web app as pure functions: facts in, HTML out; and the scripts and styles that they use, embedded.
//!
//! * **Server-rendered**: what need not move is in the page, and can be read without a script. Boards, players and live lists are
//!   custom elements that plain ES modules define; there is no build step and no framework.
//! * **A strict policy** ([`POLICY`]): no inline script or style, nothing from elsewhere.
//! * **All text from outside is hostile** and passes through [`rhae_report::Text`].
//! * **Small**: all of it is less than 150 KB uncompressed (a test says so).
//!
//! What this crate deliberately does not know: requests, cookies, who may see what, the database.

mod asset;
mod card_page;
mod cards_page;
mod entrance;
mod gallery;
mod page;
mod play_page;
mod replay_page;
mod tree;
mod watch_page;

pub use asset::{Asset, asset};
pub use card_page::{CardView, card_csv, card_page};
pub use cards_page::{CardRow, cards_page};
pub use entrance::{entrance_page, invitation_page, refusal_page};
pub use gallery::{GalleryGame, gallery_page};
pub use page::{POLICY, Place, Who};
pub use play_page::play_page;
pub use replay_page::{ReplayView, drop_page, replay_page};
pub use watch_page::{WatchRow, WatchView, watch_list_page, watch_page};
