//! Tables, plots, pictures and HTML pages made from stored results.
//!
//! # Overview
//!
//! | output | functions |
//! | --- | --- |
//! | terminal | [`card_table`], [`exploration_text()`], [`exploration_table`], [`score_table()`], [`comparison_table`], [`data_table`], [`games_table()`], [`game_text`], [`level_table()`], [`runs_table`], [`keys_table()`], [`novelty_table`], [`comparison_text()`], [`plain`], [`counted`], [`action_label`] |
//! | SVG plots | [`actions_plot`], [`completion_plot`], [`score_plot()`], [`growth_plot`], [`frontier_plot()`], [`level_heat_map`], [`compared_actions_plot`], [`completion_curves`], [`learning_plot`], [`runs_plot()`] |
//! | PNG, SVG and GIF | [`contact_sheet`], [`frame_table`], [`film_sheet`], [`animated_gif`], [`task_picture()`], [`scene_svg`], [`graph_picture()`] |
//! | HTML pages | [`run_page()`], [`arc_page()`], [`replay_page()`], [`graph_page()`], [`validation_page()`], [`heat_page()`], [`novelty_page`], [`compare_page()`] |
//! | graph files | [`graph_json`], [`graph_dot`], [`graph_graphml`] |
//! | browser player | [`player_data`], [`player_script`], [`work_rows`] |
//!
//! All functions take results or a [`Film`] (the frames of a play) and return text or bytes. A page
//! is self-contained: style, script and data are embedded, and it makes no network requests.
//!
//! # Invariants
//!
//! Names, messages and reasoning are untrusted input. The template engine escapes them in HTML and
//! SVG (the templates are in `templates/`), [`player_data`] in script data, and [`card_table`]
//! replaces control characters in terminal output.
//!
//! This crate knows nothing about files, replaying recordings or computing scores.
//!
//! # Examples
//!
//! Show a play of one action as a GIF and as a page. [`Film::push`] adds the observations of a real
//! play.
//!
//! ```
//! use rhae_engine::{Action, Frame, PlayState};
//! use rhae_report::{Film, GifOptions, Moment, animated_gif, replay_page};
//!
//! let opening = Moment {
//!     action: Action::Reset,
//!     frames: vec![Frame::filled(5)],
//!     state: PlayState::NotFinished,
//!     levels_completed: 0,
//!     changed: true,
//!     counted: false,
//!     full_reset: true,
//!     reasoning: None,
//!     work: None,
//!     t_ms: None,
//! };
//! let step = Moment {
//!     action: Action::Action1,
//!     frames: vec![Frame::filled(9)],
//!     counted: true,
//!     full_reset: false,
//!     reasoning: Some("go up".to_owned()),
//!     ..opening.clone()
//! };
//! let mut film = Film::new("ab12-v1", "example, seed 0", 20, 1);
//! film.moments = vec![opening, step];
//! assert_eq!(film.actions(), 1);
//!
//! let gif = animated_gif(&film, &GifOptions::default())?;
//! assert!(gif.starts_with(b"GIF89a"));
//!
//! let page = replay_page(&film);
//! assert!(page.contains("<title>ab12-v1</title>"));
//! # Ok::<(), rhae_report::PictureError>(())
//! ```

mod arc_page;
mod author_page;
mod board_history_plot;
mod board_plot;
mod board_text;
mod compare_page;
mod comparison_text;
mod contamination;
mod exploration_text;
mod film;
mod frontier_plot;
mod games_table;
mod gif;
mod graph_page;
mod graph_picture;
mod graph_text;
mod heat_page;
mod html;
mod keys_table;
mod level_curves;
mod level_plots;
mod level_table;
mod novelty;
mod packed;
#[cfg(test)]
mod page_outlines;
mod perception;
pub mod picture;
mod plot;
mod raster;
mod reasoning;
mod replay_page;
mod result;
mod run_marks;
mod run_page;
mod runs_plot;
mod score_plot;
mod score_table;
mod script;
mod study_text;
mod svg;
mod table;
mod task_picture;
mod task_scene;
mod text;
mod tiers_text;
mod validation_page;

pub use arc_page::{ArcAttempt, ArcReport, ArcSet, ArcTask, arc_page};
pub use author_page::{AuthorReport, StoppedReplay, author_page};
pub use board_history_plot::{board_history_plot, board_history_plot_png};
pub use board_plot::{board_plot, board_plot_png};
pub use board_text::{
    board_change_text, board_check_text, board_text, boards_text, row_comparison_text,
};
pub use compare_page::{EnvironmentReplays, RunFilm, compare_page};
pub use comparison_text::comparison_text;
pub use contamination::contamination_text;
pub use exploration_text::{exploration_facts, exploration_table, exploration_text};
pub use tiers_text::{tier_summary_text, tiers_text};

pub use film::{Film, LevelTally, ModelWork, Moment, film_sheet};
pub use frontier_plot::frontier_plot;
pub use games_table::{game_text, games_table};
pub use gif::{GifOptions, animated_gif};
pub use graph_page::{GraphPage, LevelGraph, graph_page};
pub use graph_picture::{GraphView, graph_picture, growth_plot};
pub use graph_text::{GraphMetadata, graph_dot, graph_graphml, graph_json};
pub use heat_page::{HeatMap, heat_page};
pub use keys_table::keys_table;
pub use level_curves::{completion_curves, learning_plot};
pub use level_plots::{compared_actions_plot, level_heat_map};
pub use level_table::{level_table, runs_table};
pub use novelty::{novelty_page, novelty_table};
pub use packed::{player_data, work_rows};
pub use perception::{PerceivedBox, Perceiver, Perception, perceive};
pub use picture::{PictureError, contact_sheet, frame_table};
pub use plot::{PLOT_STYLE, actions_plot, completion_plot};
pub use reasoning::{context_tokens, reasoning_text};
pub use replay_page::replay_page;
pub use rhae_protocol::PACKED_VERSION;
pub use run_page::{PlayFilm, RunReport, run_page};
pub use runs_plot::runs_plot;
pub use score_plot::{CostUnit, score_plot};
pub use score_table::{comparison_table, data_table, score_measures, score_table, score_warnings};
pub use script::{PLAYER_MODULES, player_script};
pub use study_text::{
    baselines_text, coverage_table, payments_text, simulation_text, studies_table,
    study_check_text, study_results_text, study_status_text,
};
pub use table::{PROVISIONAL_BASELINES_NOTE, REPLAY_NOTE, card_table, wrap_text};
pub use task_picture::{TASK_COLORS, scene_picture, scene_svg, task_picture};
pub use task_scene::{Panel, SceneAttempt, SceneRow, task_scene, wrong_cells};
pub use text::{action_label, counted, plain};
pub use validation_page::{
    EvidenceFigure, FindingItem, RuleSection, ValidatedGame, ValidationPage, validation_page,
};
