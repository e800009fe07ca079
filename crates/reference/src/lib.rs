//! Reference pages in Markdown, generated from the definition of the command line and from lists in
//! the code.
//!
//! The pages in `docs/reference` are the output of these functions, so every flag, variable and
//! default is stated once, in the code. `cargo xtask docs --check` compares the pages with the code.
//!
//! The crate knows no particular command, variable or rule: callers pass them in. It writes no
//! files.
//!
//! # Examples
//!
//! ```
//! use clap::{Arg, Command};
//!
//! let greet = Command::new("greet")
//!     .about("Print a greeting")
//!     .arg(Arg::new("name").long("name").value_name("NAME").default_value("world").help("Person"));
//! let page = rhae_reference::command_line(Command::new("tool").subcommand(greet));
//!
//! assert!(page.contains("## `tool greet`\n\nPrint a greeting\n"));
//! assert!(page.contains("| `--name <NAME>` | Person | `world` |"));
//! ```

mod command;
mod table;
mod variable;

pub use command::{command_line, configuration};
pub use table::{Table, page};
pub use variable::{Variable, environment};
