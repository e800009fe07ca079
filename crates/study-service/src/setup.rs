//! Sets up a study: its protocol, its pool of environments and its sites.

use std::collections::BTreeSet;

use rhae_engine::{ActionKind, GameInfo};
use rhae_protocol::{
    ArmId, Devices, EnvironmentVersion, PlannedStudy, SiteId, StudyCheck, StudyId, StudyProtocol,
};
use rhae_study::{
    Command, Moment, PlanAssumptions, SetupCommand, StudyState, check_protocol, digest, plan_study,
};

use crate::{StudyError, StudyService};

/// The only arm of a study that does not compare groups.
pub const MAIN_ARM: &str = "main";

/// A study to be created.
#[derive(Clone, Debug)]
pub struct NewStudy {
    pub id: StudyId,
    pub title: String,
    pub seed: u64,
    pub protocol: StudyProtocol,
    pub environments: Vec<GameInfo>,
    pub sites: Vec<NewSite>,
}

/// A site of a new study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSite {
    pub site: SiteId,
    /// 0 for a site without seats, such as a recruiting platform.
    pub seats: u32,
}

/// Creates a study as a draft with one arm.
///
/// # Errors
///
/// Returns [`StudyError`] if the id is taken or not valid, or if an environment is given twice.
pub async fn create_study(
    service: &StudyService,
    moment: Moment,
    new: &NewStudy,
) -> Result<(), StudyError> {
    let languages: BTreeSet<String> = new.protocol.consent.keys().cloned().collect();
    let mut commands = vec![
        SetupCommand::SetProtocol(Box::new(new.protocol.clone())),
        SetupCommand::AddArm {
            arm: MAIN_ARM.into(),
            weight: 1,
            max_participants: None,
        },
    ];
    commands.extend(new.sites.iter().map(|site| SetupCommand::AddSite {
        site: site.site.clone(),
        seats: site.seats,
        languages: languages.clone(),
        fee_minor: None,
    }));
    commands.extend(
        new.environments
            .iter()
            .map(|info| add_environment(info, &MAIN_ARM.into())),
    );
    service
        .create(moment, &new.id, &new.title, new.seed)
        .await?;
    for command in commands {
        let command = Command::Setup(command);
        service.execute(&new.id, moment, &command).await?;
    }
    Ok(())
}

/// Returns the command that adds an environment to an arm, with the devices that its actions need.
pub fn add_environment(info: &GameInfo, arm: &ArmId) -> SetupCommand {
    let pointer = info.actions.contains(ActionKind::Action6);
    let mut kinds = info.actions.iter();
    SetupCommand::AddEnvironment {
        environment: EnvironmentVersion::from(info.id.as_str()),
        arm: arm.clone(),
        levels: u32::try_from(info.level_count()).unwrap_or(u32::MAX),
        needs: Devices {
            keyboard: kinds.any(|kind| !matches!(kind, ActionKind::Reset | ActionKind::Action6)),
            pointer,
        },
    }
}

/// The assumptions of a plan that a study cannot know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    /// The number of environments that a sitting starts.
    pub per_sitting: u32,
    /// The share of valid attempts that solve an environment.
    pub solve_rate: f64,
}

impl Default for Expectation {
    /// The numbers of the ARC-AGI-3 paper: nine environments in a sitting, of which half are solved.
    fn default() -> Self {
        Self {
            per_sitting: 9,
            solve_rate: 0.5,
        }
    }
}

/// Checks a protocol for a study, and plans the study.
pub fn check_study(
    state: &StudyState,
    protocol: Option<&StudyProtocol>,
    expectation: Expectation,
) -> StudyCheck {
    let protocol = protocol.or_else(|| state.protocol().map(|(_, protocol)| protocol));
    let open = state.environments.values();
    let open = open.filter(|environment| environment.withdrawn.is_none());
    let environments = u32::try_from(open.count()).unwrap_or(u32::MAX);
    let mut violations = Vec::new();
    match protocol {
        Some(protocol) => {
            let found = check_protocol(protocol);
            violations.extend(found.iter().map(ToString::to_string));
        }
        None => violations.push("protocol: the study has none".to_owned()),
    }
    if environments == 0 {
        violations.push("environments: the pool is empty".to_owned());
    }
    if state.sites.is_empty() {
        violations.push("sites: the study has none".to_owned());
    }
    let assumptions = PlanAssumptions {
        environments,
        per_sitting: expectation.per_sitting,
        share_tenths: state.share_tenths,
        solve_rate: expectation.solve_rate,
    };
    let plan = protocol.and_then(|protocol| plan_study(protocol, assumptions));
    StudyCheck {
        study: state.id.clone(),
        protocol: protocol.map(digest),
        violations,
        plan: plan.map(|plan| PlannedStudy {
            environments,
            per_sitting: plan.per_sitting,
            share_tenths: state.share_tenths,
            solve_rate: expectation.solve_rate,
            sittings: plan.sittings,
            fees_minor: plan.fees_minor,
            bonuses_minor: plan.bonuses_minor,
            pass_probability: plan.pass_probability,
        }),
    }
}
