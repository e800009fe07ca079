//! Tables, plots, pictures and pages made from stored results.
//!
//! Functions take results and films and give text or bytes. Pages are whole by themselves: style, script and data are in
//! them, and they ask the network for nothing.
//!
//! **Boundary:** names, messages and reasoning come from outside and are hostile input. What goes into HTML passes through
//! one place (`html`), what goes into a script through another (`packed`), what goes to a terminal through a third (`table`).
//!
//! What this crate deliberately does not know: files, how a recording is replayed, how a score is computed.

mod arc_page;
mod film;
mod gif;
mod graph_page;
mod graph_picture;
mod graph_text;
mod heat_page;
mod html;
mod packed;
pub mod picture;
mod plot;
mod replay_page;
mod result;
mod run_page;
mod score_plot;
mod script;
mod table;
mod task_picture;
mod task_scene;
mod validation_page;

pub use arc_page::{ArcAttempt, ArcReport, ArcSet, ArcTask, arc_page};
pub use film::{Film, LevelTally, Moment};
pub use gif::{GifOptions, animated_gif};
pub use graph_page::{GraphPage, LevelGraph, graph_page};
pub use graph_picture::{DrawnGraph, graph_picture, growth_plot};
pub use graph_text::{GraphOf, graph_dot, graph_graphml, graph_json};
pub use heat_page::{HeatMap, heat_page};
pub use html::Text;
pub use packed::player_data;
pub use picture::{PictureError, contact_sheet};
pub use plot::{PLOT_STYLE, actions_plot, completion_plot};
pub use replay_page::replay_page;
pub use rhae_protocol::PACKED_VERSION;
pub use run_page::{PlayFilm, RunReport, run_page};
pub use score_plot::{CostOf, score_plot};
pub use script::{PLAYER_MODULES, player_script};
pub use table::{PROVISIONAL, card_table, wrapped};
pub use task_picture::{TASK_COLORS, scene_picture, scene_svg, task_picture};
pub use task_scene::{Panel, SceneAttempt, SceneRow, task_scene, wrong_cells};
pub use validation_page::{
    ShownEvidence, ShownFinding, ShownRule, ValidatedGame, ValidationPage, validation_page,
};
