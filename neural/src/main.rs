//! The program `rhae-neural`, an agent for `rhae run --agent-cmd`.

use std::io;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rhae_agents::{Agent, BlindSquirrel, ValueModel};
use rhae_neural::{Goose, GooseOptions, NetworkKind, SquirrelNetwork, serve};

/// Play one play with an agent that learns with a neural network.
///
/// The program reads observations from standard input and writes actions to standard output. Rhae
/// starts it once for each play:
///
/// rhae run --agent-cmd "rhae-neural goose" --budget 2000
#[derive(Parser)]
#[command(version, verbatim_doc_comment)]
struct Cli {
    #[command(subcommand)]
    agent: AgentArgs,
}

#[derive(Subcommand)]
enum AgentArgs {
    /// Learn which actions change the frame, and draw actions by that probability.
    Goose(GooseArgs),
    /// Avoid dead ends, and learn the value of actions from finished levels with a network.
    BlindSquirrel(SquirrelArgs),
}

#[derive(Args)]
struct GooseArgs {
    /// Shape of the network
    #[arg(long, value_enum, default_value_t = NetworkKind::Lite)]
    network: NetworkKind,
    /// Seed of all random choices [default: the seed of the play]
    #[arg(long)]
    seed: Option<u64>,
    /// Frames that decide whether an action had an effect
    #[arg(long, value_enum, default_value_t = Label::Exact)]
    label: Label,
    /// Keep the network when a level begins
    #[arg(long)]
    keep_weights: bool,
    /// Apply no dropout while acting
    #[arg(long)]
    eval_mode: bool,
    /// Draw no action that is known to have no effect at the current frame
    #[arg(long)]
    skip_known: bool,
}

#[derive(Args)]
struct SquirrelArgs {
    /// Model that estimates the value of actions
    #[arg(long, value_enum, default_value_t = Value::Network)]
    value: Value,
    /// Follow all rules of the original: exact frames, and actions identified by rank
    #[arg(long)]
    faithful: bool,
    /// Seed of all random choices [default: the seed of the play]
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Value {
    /// A residual network, as in the original
    Network,
    /// Boosted trees, as in the built-in agent
    Tree,
}

#[derive(Clone, Copy, ValueEnum)]
enum Label {
    /// The exact frames
    Exact,
    /// The frames without status bars and counters
    Masked,
}

impl AgentArgs {
    /// Creates the agent for a play whose seed is `play_seed`.
    fn build(&self, play_seed: u64) -> Box<dyn Agent> {
        match self {
            Self::Goose(args) => {
                let options = GooseOptions {
                    network: args.network,
                    mask_status_bars: matches!(args.label, Label::Masked),
                    keep_weights: args.keep_weights,
                    eval_mode: args.eval_mode,
                    skip_known: args.skip_known,
                };
                Box::new(Goose::new(options, args.seed.unwrap_or(play_seed)))
            }
            Self::BlindSquirrel(args) => {
                let seed = args.seed.unwrap_or(play_seed);
                Box::new(match (args.value, args.faithful) {
                    (Value::Tree, false) => BlindSquirrel::new(seed),
                    (Value::Tree, true) => BlindSquirrel::faithful(seed),
                    (Value::Network, false) => BlindSquirrel::with_model(seed, network(seed)),
                    (Value::Network, true) => {
                        BlindSquirrel::faithful_with_model(seed, network(seed))
                    }
                })
            }
        }
    }
}

fn network(seed: u64) -> Box<dyn ValueModel> {
    Box::new(SquirrelNetwork::new(seed))
}

fn main() -> ExitCode {
    let agent = Cli::parse().agent;
    let played = serve(io::stdin().lock(), io::stdout().lock(), |seed| {
        agent.build(seed)
    });
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rhae-neural: {error}");
            ExitCode::FAILURE
        }
    }
}
