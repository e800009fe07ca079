//! A study with a clock that the test moves.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    Devices, EnvironmentVersion, LevelPlay, ParticipantId, PlayCounts, SittingId, StudyProtocol,
    StudyRecord, StudyStage,
};
use rhae_study::{
    Command, EndRequest, Moment, PersonCommand, Preset, Rejection, SetupCommand, SittingCommand,
    Study, text_digest,
};

pub(crate) const MINUTE: u64 = 60_000;

/// The consent text of all tests.
const CONSENT: &str = "You play games for 90 minutes.";

pub(crate) struct Lab {
    pub(crate) study: Study,
    pub(crate) log: Vec<StudyRecord>,
    pub(crate) now_ms: u64,
}

/// Returns the protocol of a preset with a consent text.
pub(crate) fn protocol(preset: Preset) -> StudyProtocol {
    let mut protocol = preset.protocol();
    let consent = protocol.consent.get_mut("en").unwrap();
    consent.text = CONSENT.to_owned();
    protocol
}

impl Lab {
    /// Creates a draft with a protocol, one arm, and a site with 20 seats.
    pub(crate) fn draft(protocol: StudyProtocol, environments: &[(&str, u32)]) -> Self {
        let now_ms = 1_794_736_800_000;
        let (study, log) = Study::create(Moment::at(now_ms), "study-1".into(), "Test", 7);
        let mut lab = Self { study, log, now_ms };
        lab.setup(SetupCommand::SetProtocol(Box::new(protocol)));
        lab.setup(SetupCommand::AddArm {
            arm: "all".into(),
            weight: 1,
            max_participants: None,
        });
        lab.setup(SetupCommand::AddSite {
            site: "room".into(),
            seats: 20,
            languages: BTreeSet::from(["en".to_owned()]),
            fee_minor: None,
        });
        for (environment, levels) in environments {
            lab.add_environment(environment, *levels);
        }
        lab
    }

    /// Creates an open study.
    pub(crate) fn open(protocol: StudyProtocol, environments: &[(&str, u32)]) -> Self {
        let mut lab = Self::draft(protocol, environments);
        lab.setup(SetupCommand::Freeze);
        lab.setup(SetupCommand::Open);
        lab
    }

    pub(crate) fn add_environment(&mut self, environment: &str, levels: u32) {
        self.setup(SetupCommand::AddEnvironment {
            environment: environment.into(),
            arm: "all".into(),
            levels,
            needs: Devices::default(),
        });
    }

    /// The present moment; the participant is in contact.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            now_ms: self.now_ms,
            contact_ms: Some(self.now_ms),
        }
    }

    pub(crate) fn try_at(
        &mut self,
        moment: Moment,
        command: &Command,
    ) -> Result<Vec<StudyRecord>, Rejection> {
        let records = self.study.execute(moment, command)?;
        self.log.extend(records.iter().cloned());
        Ok(records)
    }

    pub(crate) fn attempt(&mut self, command: &Command) -> Result<Vec<StudyRecord>, Rejection> {
        self.try_at(self.moment(), command)
    }

    pub(crate) fn run(&mut self, command: &Command) -> Vec<StudyRecord> {
        match self.attempt(command) {
            Ok(records) => records,
            Err(error) => panic!("{command:?}: {error}"),
        }
    }

    pub(crate) fn setup(&mut self, command: SetupCommand) {
        self.run(&Command::Setup(command));
    }

    pub(crate) fn person(&mut self, id: &str, command: PersonCommand) {
        self.run(&Command::Person(id.into(), command));
    }

    pub(crate) fn sitting(&mut self, id: &str, command: SittingCommand) -> Vec<StudyRecord> {
        self.run(&Command::Sitting(id.into(), command))
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    /// Enrols a person with the key `key-ID`, who consents.
    pub(crate) fn enrol(&mut self, id: &str, stage: StudyStage) {
        self.person(
            id,
            PersonCommand::Enrol {
                person_key: format!("key-{id}").as_str().into(),
                site: "room".into(),
                source: "panel".to_owned(),
                stage,
                families_seen: BTreeSet::new(),
            },
        );
        self.consent(id);
        self.person(
            id,
            PersonCommand::CheckDevice {
                devices: Devices {
                    keyboard: true,
                    pointer: true,
                },
                colours_distinguished: true,
            },
        );
    }

    pub(crate) fn consent(&mut self, id: &str) {
        self.person(
            id,
            PersonCommand::Consent {
                text: text_digest(CONSENT),
                language: "en".to_owned(),
                publish_replays: true,
                later_contact: false,
            },
        );
    }

    pub(crate) fn describe(&mut self, id: &str, answers: &[(&str, &str)]) {
        let answers: BTreeMap<String, String> = answers
            .iter()
            .map(|(question, answer)| ((*question).to_owned(), (*answer).to_owned()))
            .collect();
        self.person(id, PersonCommand::Describe { answers });
    }

    /// Enrols a live person and starts the sitting `s-ID`.
    pub(crate) fn sit(&mut self, id: &str) -> String {
        self.enrol(id, StudyStage::Live);
        self.start(id)
    }

    pub(crate) fn start(&mut self, id: &str) -> String {
        let sitting = format!("s-{id}");
        let participant: ParticipantId = id.into();
        let seat = None;
        self.sitting(&sitting, SittingCommand::Start { participant, seat });
        sitting
    }

    /// Reserves the next environment; `None` if the sitting ended instead.
    pub(crate) fn next(&mut self, sitting: &str) -> Option<EnvironmentVersion> {
        self.sitting(sitting, SittingCommand::Next);
        let state = self.study.state().sittings[&SittingId::from(sitting)].clone();
        state.current().map(|(_, one)| one.environment.clone())
    }

    /// Reserves and starts the next environment.
    pub(crate) fn begin(&mut self, sitting: &str) -> EnvironmentVersion {
        let environment = self.next(sitting).expect("an environment is left");
        let play = format!("{sitting}-{environment}");
        self.sitting(sitting, SittingCommand::StartAttempt { play });
        environment
    }

    /// Plays the next environment for a time and solves it with the given actions on each level.
    pub(crate) fn solve(&mut self, sitting: &str, actions: &[u32], ms: u64) -> EnvironmentVersion {
        let environment = self.begin(sitting);
        self.wait(ms);
        let counts = solved(actions);
        self.sitting(
            sitting,
            SittingCommand::EndAttempt {
                leave: false,
                counts,
            },
        );
        environment
    }

    /// Plays the next environment for a time and leaves it in the last of the given levels.
    pub(crate) fn leave(&mut self, sitting: &str, actions: &[u32], ms: u64) -> EnvironmentVersion {
        let environment = self.begin(sitting);
        self.wait(ms);
        let counts = unsolved(actions);
        self.sitting(
            sitting,
            SittingCommand::EndAttempt {
                leave: true,
                counts,
            },
        );
        environment
    }

    /// Ends a sitting by the wish of the participant.
    pub(crate) fn end(&mut self, sitting: &str) {
        self.sitting(
            sitting,
            SittingCommand::End {
                request: EndRequest::Participant,
                counts: None,
            },
        );
    }
}

fn levels(actions: &[u32], completed: usize) -> Vec<LevelPlay> {
    let level = |(at, &actions): (usize, &u32)| LevelPlay {
        actions,
        effective: actions,
        actions_last_try: actions,
        completed: at < completed,
        ..LevelPlay::default()
    };
    actions.iter().enumerate().map(level).collect()
}

/// Returns the counts of a solved play.
pub(crate) fn solved(actions: &[u32]) -> PlayCounts {
    PlayCounts {
        levels: levels(actions, actions.len()),
        solved: true,
    }
}

/// Returns the counts of a play whose last level was not completed.
pub(crate) fn unsolved(actions: &[u32]) -> PlayCounts {
    PlayCounts {
        levels: levels(actions, actions.len().saturating_sub(1)),
        solved: false,
    }
}

/// Returns an environment version by its id.
pub(crate) fn environment(id: &str) -> EnvironmentVersion {
    id.into()
}
