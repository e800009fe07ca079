//! The parts of a validation.

use crate::rule::{Check, Context, checks};
use crate::rules::memory;
use crate::{
    Finding, Monitor, Options, Rule, Subject, Verdict, design, fuzz, laws, luck, solvable,
    structure,
};

/// A part of a validation. Parts are independent of each other, so they can run in any order. They
/// can also run in parallel, except those that are [exclusive](Part::is_exclusive). Levels are
/// counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Memory growth. No other part may run at the same time.
    Memory,
    /// All checks that take little time.
    Structure,
    /// The laws, on one level.
    Laws(u8),
    /// Random play from the start of the game.
    Start,
    /// Random play of one level.
    Luck(u8),
    /// Fuzzing of one level.
    Fuzz(u8),
    /// The state graph of one level.
    Graph(u8),
    /// Statistics about the design.
    Design,
}

/// A [`Part`] without its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Structure,
    Laws,
    Start,
    Luck,
    Fuzz,
    Graph,
    Design,
}

impl Kind {
    /// Returns the rules that parts of this kind check, in the order of [`Rule::ALL`].
    pub(crate) fn rules(self) -> Vec<Rule> {
        let own = |rule: &Rule| rule.checks().iter().any(|check| check.kind() == self);
        Rule::ALL.iter().copied().filter(own).collect()
    }
}

/// The estimated work of a part in steps, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(pub u64);

impl Part {
    /// Returns whether no other part may run in the process at the same time.
    pub const fn is_exclusive(self) -> bool {
        matches!(self, Self::Memory)
    }

    /// Returns the level that the part checks.
    const fn level(self) -> Option<u8> {
        match self {
            Self::Laws(level) | Self::Luck(level) | Self::Fuzz(level) | Self::Graph(level) => {
                Some(level)
            }
            Self::Memory | Self::Structure | Self::Start | Self::Design => None,
        }
    }

    const fn kind(self) -> Kind {
        match self {
            Self::Memory => Kind::Memory,
            Self::Structure => Kind::Structure,
            Self::Laws(_) => Kind::Laws,
            Self::Start => Kind::Start,
            Self::Luck(_) => Kind::Luck,
            Self::Fuzz(_) => Kind::Fuzz,
            Self::Graph(_) => Kind::Graph,
            Self::Design => Kind::Design,
        }
    }

    /// Returns the rules about which the part reports, in the order of [`Rule::ALL`]. In addition,
    /// every part may report a failure of the environment under [`Rule::Failures`].
    pub fn rules(self) -> Vec<Rule> {
        self.kind().rules()
    }

    /// Converts the findings of an interrupted part. Failures, and warnings with evidence, are
    /// still valid and are kept. All other findings are dropped, and an open finding is added for
    /// each rule of the part.
    pub fn interrupted(self, found: Vec<Finding>) -> Vec<Finding> {
        let holds = |finding: &Finding| match finding.verdict {
            Verdict::Fail => true,
            Verdict::Warn => !finding.evidence.is_empty(),
            Verdict::Pass | Verdict::Open => false,
        };
        let open = self.rules().into_iter().map(|rule| Finding {
            level: self.level(),
            ..Finding::open(rule, "not checked: interrupted")
        });
        found.into_iter().filter(holds).chain(open).collect()
    }

    /// Returns a description of the part for progress messages.
    pub fn name(self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::Structure => "structure".to_owned(),
            Self::Laws(level) => format!("laws, level {}", level + 1),
            Self::Start => "random play from the start".to_owned(),
            Self::Luck(level) => format!("random play, level {}", level + 1),
            Self::Fuzz(level) => format!("fuzzing, level {}", level + 1),
            Self::Graph(level) => format!("state graph, level {}", level + 1),
            Self::Design => "design".to_owned(),
        }
    }
}

/// Returns all parts of a validation that check a selected rule, with their estimated work.
/// Exclusive parts come first; of the others, those that take longest generally come before the
/// short ones.
pub fn parts(subject: &dyn Subject, options: &Options) -> Vec<(Part, Weight)> {
    let levels = subject.levels();
    let mut parts = vec![
        (Part::Memory, Weight(memory::steps(subject, options))),
        (Part::Structure, Weight(0)),
    ];
    let add = |parts: &mut Vec<(Part, Weight)>, part: fn(u8) -> Part, from: u8, steps: u64| {
        parts.extend((from..levels).map(|level| (part(level), Weight(steps))));
    };
    add(&mut parts, Part::Graph, 0, options.limits.nodes as u64);
    add(&mut parts, Part::Luck, 1, options.steps);
    parts.push((
        Part::Start,
        Weight(options.steps.min(luck::MAX_STEPS_FROM_START)),
    ));
    add(
        &mut parts,
        Part::Fuzz,
        0,
        options.steps / u64::from(levels.max(1)),
    );
    add(&mut parts, Part::Laws, 0, 0);
    parts.push((Part::Design, Weight(0)));
    parts.retain(|(part, _)| {
        let mut rules = part.rules().into_iter();
        rules.any(|rule| options.rules.contains(rule))
    });
    parts
}

/// Runs a part and returns its findings. If the monitor cancels it, the findings are converted by
/// [`Part::interrupted`].
///
/// A panic of the environment is caught and reported as a finding.
///
/// # Examples
///
/// ```
/// use rhae_engine::Game;
/// use rhae_validate::{NativeSubject, Options, Rule, RuleReport, Verdict, check, parts, reports};
///
/// struct Validate;
///
/// impl rhae_games::Visitor for Validate {
///     type Output = Vec<RuleReport>;
///
///     fn visit<G: Game>(self) -> Vec<RuleReport> {
///         let subject = NativeSubject::<G>::new(0, Vec::new());
///         let mut options = Options { steps: 500, ..Options::default() };
///         (options.limits.nodes, options.limits.boards) = (2_000, 2_000);
///         let findings: Vec<_> = parts(&subject, &options)
///             .into_iter()
///             .flat_map(|(part, _)| check(&subject, part, &options, &()))
///             .collect();
///         reports(&findings)
///     }
/// }
///
/// let reports = rhae_games::visit("bx20-v1", Validate).expect("the game is registered");
/// let failures = reports.iter().find(|report| report.rule == Rule::Failures);
/// assert_eq!(failures.map(|report| report.verdict), Some(Verdict::Pass));
/// ```
pub fn check(
    subject: &dyn Subject,
    part: Part,
    options: &Options,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let context = Context {
        subject,
        options,
        monitor,
    };
    let found = run(context, part);
    if monitor.should_continue() {
        found
    } else {
        part.interrupted(found)
    }
}

fn run(context: Context<'_>, part: Part) -> Vec<Finding> {
    match part {
        Part::Memory => measure_memory(context),
        Part::Structure => structure::check(context),
        Part::Laws(level) => laws::check(context, level),
        Part::Start => luck::from_start(context),
        Part::Luck(level) => luck::on_level(context, level),
        Part::Fuzz(level) => fuzz::check(context, level),
        Part::Graph(level) => solvable::check(context, level),
        Part::Design => design::check(context),
    }
}

fn measure_memory(context: Context<'_>) -> Vec<Finding> {
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Memory(judge) => Some(judge),
        _ => None,
    });
    judges.flat_map(|judge| judge(context)).collect()
}
