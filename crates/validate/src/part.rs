//! The pieces of work that a check consists of.

use crate::{
    Finding, Options, Rule, Subject, Verdict, Watch, design, fuzz, laws, luck, memory, solvable,
    structure,
};

/// A piece of work on one environment. Pieces do not depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Memory, which no other piece of work may run beside.
    Memory,
    /// Everything that takes no time.
    Structure,
    /// The laws on a level.
    Laws(u8),
    /// Random play from the start.
    Start,
    /// Random play of a level.
    Luck(u8),
    /// Odd play of a level.
    Fuzz(u8),
    /// The state graph of a level.
    Graph(u8),
    /// Numbers about the design.
    Design,
}

/// How much work a part is, in steps, for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(pub u64);

impl Part {
    /// Whether it needs the process for itself.
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Memory)
    }

    /// The level it is about.
    const fn level(self) -> Option<u8> {
        match self {
            Self::Laws(level) | Self::Luck(level) | Self::Fuzz(level) | Self::Graph(level) => {
                Some(level)
            }
            Self::Memory | Self::Structure | Self::Start | Self::Design => None,
        }
    }

    /// The rules that it speaks about; of failures, every part speaks that meets one.
    pub const fn rules(self) -> &'static [Rule] {
        match self {
            Self::Memory => &[Rule::Memory],
            Self::Structure => &[
                Rule::Loads,
                Rule::Metadata,
                Rule::SixLevels,
                Rule::Frames,
                Rule::Actions,
                Rule::Baselines,
                Rule::Solutions,
                Rule::Recordings,
            ],
            Self::Laws(_) => &[
                Rule::SameTwice,
                Rule::Copies,
                Rule::Keys,
                Rule::Reset,
                Rule::Undo,
                Rule::NotOffered,
                Rule::AfterEnd,
            ],
            Self::Start => &[Rule::Start],
            Self::Luck(_) => &[Rule::Levels],
            Self::Fuzz(_) => &[Rule::Failures, Rule::FuzzFrames, Rule::Drift, Rule::Speed],
            Self::Graph(_) => &solvable::RULES,
            Self::Design => &[
                Rule::ActionsUsed,
                Rule::Idle,
                Rule::Still,
                Rule::Alike,
                Rule::Shortcuts,
            ],
        }
    }

    /// What a part says that did not come to its end: what it found broken is, or what it can show; all else is open.
    pub fn cut_short(self, found: Vec<Finding>) -> Vec<Finding> {
        let holds = |finding: &Finding| match finding.verdict {
            Verdict::Fail => true,
            Verdict::Warn => !finding.evidence.is_empty(),
            Verdict::Pass | Verdict::Open => false,
        };
        let open = self.rules().iter().map(|&rule| Finding {
            level: self.level(),
            ..Finding::open(rule, "not checked: interrupted")
        });
        found.into_iter().filter(holds).chain(open).collect()
    }

    /// What it is, for progress.
    pub fn name(self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::Structure => "structure".to_owned(),
            Self::Laws(level) => format!("laws, level {}", level + 1),
            Self::Start => "random play from the start".to_owned(),
            Self::Luck(level) => format!("random play, level {}", level + 1),
            Self::Fuzz(level) => format!("odd play, level {}", level + 1),
            Self::Graph(level) => format!("states, level {}", level + 1),
            Self::Design => "design".to_owned(),
        }
    }
}

/// The parts of a whole check. Those that others may not run beside come first, then the longest.
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
        Weight(options.steps.min(luck::MOST_FROM_START)),
    ));
    add(
        &mut parts,
        Part::Fuzz,
        0,
        options.steps / u64::from(levels.max(1)),
    );
    add(&mut parts, Part::Laws, 0, 0);
    parts.push((Part::Design, Weight(0)));
    parts
}

/// Does a piece of work, as far as whoever watches lets it.
pub fn check(
    subject: &dyn Subject,
    part: Part,
    options: &Options,
    watch: &dyn Watch,
) -> Vec<Finding> {
    let found = checked(subject, part, options, watch);
    if watch.goes_on() {
        found
    } else {
        part.cut_short(found)
    }
}

fn checked(
    subject: &dyn Subject,
    part: Part,
    options: &Options,
    watch: &dyn Watch,
) -> Vec<Finding> {
    match part {
        Part::Memory => memory::check(subject, options, watch),
        Part::Structure => structure::check(subject, options, watch),
        Part::Laws(level) => laws::check(subject, options, level),
        Part::Start => luck::from_start(subject, options, watch),
        Part::Luck(level) => luck::on_level(subject, options, level, watch),
        Part::Fuzz(level) => fuzz::check(subject, options, level, watch),
        Part::Graph(level) => solvable::check(subject, options, level, watch),
        Part::Design => {
            let mut findings = design::check(subject, options);
            findings.extend(solvable::shortcuts(subject, options));
            findings
        }
    }
}
