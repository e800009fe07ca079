//! The requests, tokens and cost of a run, estimated before anything is sent.
//!
//! Only the first request of a play is known exactly. How many actions a play takes follows from the
//! budget and the baselines; how many requests the agent sends for each, and how long replies are,
//! are assumptions of the agent. The estimate is therefore a range, and states what it assumes.

use std::fmt::Write as _;

use rhae_agents::{AgentSpec, ModelPlayer, RequestProfile, RequestProfiles};
use rhae_engine::Catalog;
use rhae_llm::{Prices, Usage};
use rhae_protocol::RunConfig;
use serde::Serialize;

use crate::{Budget, first_request};

/// The part of a conversation that remains when it exceeds the context, in percent.
const KEEP_PERCENT: u64 = 55;
/// The requests that a simulation of one play sends one by one. Later ones are extrapolated.
const MAX_SIMULATED: u64 = 100_000;

/// A quantity in three scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Range<T> {
    pub low: T,
    pub likely: T,
    pub high: T,
}

/// What plays need, in three scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Amounts {
    pub actions: Range<u64>,
    pub requests: Range<u64>,
    /// The tokens of all requests, those read from the cache included.
    pub input_tokens: Range<u64>,
    /// The input tokens that are read from the provider's cache.
    pub cached_tokens: Range<u64>,
    pub output_tokens: Range<u64>,
    /// The cost in US dollars; absent if the model has no prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Range<f64>>,
}

/// The estimate for the plays of one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnvironmentEstimate {
    pub environment: String,
    pub plays: u32,
    /// The tokens of the first request of a play, estimated from its text.
    pub first_request_tokens: u64,
    #[serde(flatten)]
    pub amounts: Amounts,
}

/// The estimate for a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEstimate {
    pub agent: String,
    pub environments: Vec<EnvironmentEstimate>,
    pub total: Amounts,
    /// What the estimate assumes, one sentence each.
    pub assumptions: Vec<String>,
}

impl RunEstimate {
    /// Estimates a run, or returns `None` if its agent has no model. `catalog` lists the environments,
    /// `local` opens them in this process.
    pub(crate) fn of(
        agent: &AgentSpec,
        config: &RunConfig,
        catalog: &dyn Catalog,
        local: &dyn Catalog,
    ) -> Option<Self> {
        let (player, profiles) = match agent {
            AgentSpec::Model(player) => (player, ModelPlayer::PROFILES),
            AgentSpec::External(agent) => (agent.player(), agent.profiles()),
            _ => return None,
        };
        let budget: Budget = config.budget.parse().ok()?;
        let prices = prices(player, config).unwrap_or_default();
        let environment = |id: &String| {
            let info = catalog.find(id).ok();
            let baselines: Vec<u64> = info
                .iter()
                .flat_map(|info| &info.baselines)
                .map(|baseline| u64::from(baseline.actions))
                .collect();
            let first = first_request::first_request_tokens(agent, local, id, config)?;
            let actions = actions(budget, &baselines);
            let play = play_amounts(player.context_tokens, &prices, &profiles, first, actions);
            Some(EnvironmentEstimate {
                environment: id.clone(),
                plays: config.repeat,
                first_request_tokens: first,
                amounts: play.times(u64::from(config.repeat)),
            })
        };
        let environments: Vec<EnvironmentEstimate> =
            config.games.iter().filter_map(environment).collect();
        let mut total = environments.first()?.amounts.times(0);
        for environment in &environments {
            total = total.and(&environment.amounts);
        }
        Some(Self {
            agent: agent.name(),
            environments,
            total,
            assumptions: assumptions(&profiles, player, config, budget),
        })
    }

    /// Returns a table for a terminal, followed by the assumptions.
    pub fn text(&self) -> String {
        let mut text = format!(
            "estimate for {}: low / likely / high\n\n{:<16} {:>6} {:>22} {:>26} {:>24} {:>26}\n",
            self.agent,
            "environment",
            "plays",
            "requests",
            "input tokens",
            "output tokens",
            "US dollars"
        );
        let plays = self.environments.iter().map(|one| one.plays).sum();
        let rows = self.environments.iter();
        let rows = rows.map(|one| (one.environment.as_str(), one.plays, &one.amounts));
        for (name, plays, amounts) in rows.chain([("total", plays, &self.total)]) {
            let cost = amounts.cost_usd.map_or_else(
                || "no prices".to_owned(),
                |cost| format!("{:.2} / {:.2} / {:.2}", cost.low, cost.likely, cost.high),
            );
            let _ = writeln!(
                text,
                "{name:<16} {plays:>6} {:>22} {:>26} {:>24} {cost:>26}",
                shown(amounts.requests),
                shown(amounts.input_tokens),
                shown(amounts.output_tokens)
            );
        }
        text.push('\n');
        for assumption in &self.assumptions {
            let _ = writeln!(text, "- {assumption}");
        }
        text
    }
}

/// Returns a range of counts, with the units k and M.
fn shown(range: Range<u64>) -> String {
    let count = |count: u64| match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    };
    format!(
        "{} / {} / {}",
        count(range.low),
        count(range.likely),
        count(range.high)
    )
}

/// Returns the actions of one play. The most is the whole budget. The fewest are those of a play that
/// needs the baseline on every level, or that ends on the first level, whichever is less.
fn actions(budget: Budget, baselines: &[u64]) -> Range<u64> {
    let assumed = [u64::from(Budget::ASSUMED_BASELINE)];
    let baselines = if baselines.is_empty() {
        &assumed
    } else {
        baselines
    };
    let all: u64 = baselines.iter().sum();
    let (first, high) = match budget {
        Budget::PerLevel(times) => {
            let times = u64::from(times);
            (
                baselines[0].saturating_mul(times),
                all.saturating_mul(times),
            )
        }
        Budget::PerPlay(actions) => (actions, actions),
        Budget::None => (all, all.saturating_mul(5)),
    };
    let low = all.min(first).min(high).max(1);
    let likely = ((low as f64) * (high as f64)).sqrt().round() as u64;
    Range { low, likely, high }
}

/// Returns the prices of the agent's model and of the models that its roles have of their own; `None` if
/// the price of one of them is unknown.
fn prices(player: &ModelPlayer, config: &RunConfig) -> Option<Vec<Prices>> {
    let own = player.model.config().prices.clone();
    let roles = config.model.iter().flat_map(|model| model.roles.values());
    let roles = roles.map(|table| serde_json::from_value(table["prices"].clone()).ok());
    [own].into_iter().chain(roles).collect()
}

/// Returns what one play needs. In the scenario `high` nothing is read from the cache. Which model of a
/// team sends a request is unknown, so `low` takes the cheapest one, `likely` the mean of their prices, and
/// `high` the dearest one.
fn play_amounts(
    context: u64,
    prices: &[Prices],
    profiles: &RequestProfiles,
    first_tokens: u64,
    actions: Range<u64>,
) -> Amounts {
    let one = |profile, actions, is_cached| {
        conversation(profile, first_tokens, context, actions, is_cached)
    };
    let low = one(profiles.low, actions.low, true);
    let likely = one(profiles.likely, actions.likely, true);
    let high = one(profiles.high, actions.high, false);
    let range = |value: fn(&Usage) -> u64| Range {
        low: value(&low.1),
        likely: value(&likely.1),
        high: value(&high.1),
    };
    let costs = |usage: &Usage| -> Vec<f64> { prices.iter().map(|one| one.usd(usage)).collect() };
    let cost_usd = (!prices.is_empty()).then(|| Range {
        low: costs(&low.1).into_iter().fold(f64::INFINITY, f64::min),
        likely: costs(&likely.1).iter().sum::<f64>() / prices.len() as f64,
        high: costs(&high.1).into_iter().fold(0.0, f64::max),
    });
    Amounts {
        actions,
        requests: Range {
            low: low.0,
            likely: likely.0,
            high: high.0,
        },
        input_tokens: range(|usage| usage.input_tokens),
        cached_tokens: range(|usage| usage.cached_tokens),
        output_tokens: range(|usage| usage.output_tokens),
        cost_usd,
    }
}

/// Returns the requests and the usage of a conversation that grows with each request and loses its
/// oldest turns when it exceeds the context.
fn conversation(
    profile: RequestProfile,
    first_tokens: u64,
    context: u64,
    actions: u64,
    is_cached: bool,
) -> (u64, Usage) {
    let requests = (actions as f64 * profile.requests_per_action).ceil() as u64;
    let requests = requests.max(1);
    let simulated = requests.min(MAX_SIMULATED);
    let mut usage = Usage::default();
    let mut size = first_tokens;
    let mut cached = 0;
    for _ in 0..simulated {
        usage.input_tokens += size;
        usage.cached_tokens += if is_cached { cached } else { 0 };
        usage.output_tokens += profile.output_tokens;
        cached = size;
        size += profile.added_tokens + profile.output_tokens;
        if size > context {
            // What follows removed turns is not in the cache.
            size = (context.saturating_mul(KEEP_PERCENT) / 100).max(first_tokens);
            cached = 0;
        }
    }
    let all = |tokens: u64| {
        (u128::from(tokens) * u128::from(requests) / u128::from(simulated))
            .try_into()
            .unwrap_or(u64::MAX)
    };
    usage.input_tokens = all(usage.input_tokens);
    usage.cached_tokens = all(usage.cached_tokens);
    usage.output_tokens = all(usage.output_tokens);
    (requests, usage)
}

fn assumptions(
    profiles: &RequestProfiles,
    player: &ModelPlayer,
    config: &RunConfig,
    budget: Budget,
) -> Vec<String> {
    let RequestProfiles { low, likely, high } = profiles;
    let mut assumptions = vec![
        "low: a play needs the baseline on every level, or ends on the first level, whichever takes fewer actions; likely: the geometric mean of low and high".to_owned(),
        match budget {
            Budget::None => "high: five times the baseline on every level, because the run has no budget; it may take more".to_owned(),
            _ => "high: every play uses its whole budget".to_owned(),
        },
        format!(
            "requests per action: {} / {} / {}; tokens of a reply, with reasoning: {} / {} / {}; tokens that each request adds: {} / {} / {}",
            low.requests_per_action,
            likely.requests_per_action,
            high.requests_per_action,
            low.output_tokens,
            likely.output_tokens,
            high.output_tokens,
            low.added_tokens,
            likely.added_tokens,
            high.added_tokens
        ),
        format!(
            "a conversation has at most {} tokens; low and likely read everything that was sent before from the provider's cache, high reads nothing from it",
            player.context_tokens
        ),
        "failed requests and retries are not included; --max-cost limits what is spent".to_owned(),
    ];
    match &player.model.config().prices {
        Some(prices) => assumptions.push(format!("prices of {}", prices.date)),
        None => assumptions.push("the model has no prices, so the cost is unknown".to_owned()),
    }
    let roles = config.model.iter().flat_map(|model| model.roles.keys());
    let roles: Vec<&str> = roles.map(String::as_str).collect();
    let is_priced = prices(player, config).is_some();
    if !is_priced && player.model.config().prices.is_some() {
        let text = "the price of a role's model is unknown, so the cost is unknown";
        assumptions.push(text.to_owned());
    } else if !roles.is_empty() {
        assumptions.push(format!(
            "any model of the team ({}, and those of the roles {}) may send a request: low takes the cheapest one, likely the mean of their prices, high the dearest one",
            player.model.name(),
            roles.join(", ")
        ));
    }
    assumptions
}

impl Amounts {
    fn times(&self, factor: u64) -> Self {
        self.map(
            |count| count.saturating_mul(factor),
            |usd| usd * factor as f64,
        )
    }

    fn map(&self, count: impl Fn(u64) -> u64, usd: impl Fn(f64) -> f64) -> Self {
        let range = |range: Range<u64>| Range {
            low: count(range.low),
            likely: count(range.likely),
            high: count(range.high),
        };
        Self {
            actions: range(self.actions),
            requests: range(self.requests),
            input_tokens: range(self.input_tokens),
            cached_tokens: range(self.cached_tokens),
            output_tokens: range(self.output_tokens),
            cost_usd: self.cost_usd.map(|cost| Range {
                low: usd(cost.low),
                likely: usd(cost.likely),
                high: usd(cost.high),
            }),
        }
    }

    fn and(&self, other: &Self) -> Self {
        let sum = |one: Range<u64>, two: Range<u64>| Range {
            low: one.low.saturating_add(two.low),
            likely: one.likely.saturating_add(two.likely),
            high: one.high.saturating_add(two.high),
        };
        let costs = self.cost_usd.zip(other.cost_usd);
        Self {
            actions: sum(self.actions, other.actions),
            requests: sum(self.requests, other.requests),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cost_usd: costs.map(|(one, two)| Range {
                low: one.low + two.low,
                likely: one.likely + two.likely,
                high: one.high + two.high,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rhae_games::Builtin;
    use rhae_llm::Models;

    use super::*;
    use crate::{ModelOptions, RunRequest, run};

    #[test]
    fn actions_follow_from_the_budget() {
        let range = |low, likely, high| Range { low, likely, high };
        assert_eq!(
            actions(Budget::PerLevel(5), &[10, 20, 30]),
            range(50, 122, 300)
        );
        assert_eq!(actions(Budget::PerLevel(5), &[40, 10]), range(50, 112, 250));
        assert_eq!(actions(Budget::PerPlay(7), &[40, 10]), range(7, 7, 7));
        assert_eq!(actions(Budget::None, &[]), range(200, 447, 1000));
    }

    #[test]
    fn conversations_grow_are_cached_and_are_cut() {
        let profile = RequestProfile {
            requests_per_action: 0.5,
            added_tokens: 90,
            output_tokens: 10,
        };
        // Five requests of 100, 200, … tokens; each but the first reads the one before.
        let (requests, usage) = conversation(profile, 100, 10_000, 10, true);
        let tokens = |usage: &Usage| (usage.input_tokens, usage.cached_tokens, usage.output_tokens);
        assert_eq!((requests, tokens(&usage)), (5, (1500, 1000, 50)));
        let (_, uncached) = conversation(profile, 100, 10_000, 10, false);
        assert_eq!(tokens(&uncached), (1500, 0, 50));
        // 100, 200, 300, then 165 after a removal that leaves 55 % of 300, then 265.
        let (_, cut) = conversation(profile, 100, 300, 10, true);
        assert_eq!(tokens(&cut), (1030, 465, 50));
        let (requests, long) = conversation(profile, 100, 300, 1_000_000, true);
        assert_eq!((requests, long.output_tokens), (500_000, 5_000_000));
    }

    /// Returns a run of kq19 with a model that needs no network.
    fn request(agent: &str, out: &std::path::Path) -> RunRequest {
        let models = "[models.m]\nprovider = \"mock\"\nreplies = [\"ACTION1\"]\nprices = { date = \"2026-11-01\", input = 1, output = 10 }";
        RunRequest {
            agent: agent.to_owned(),
            games: Some("kq19".to_owned()),
            repeat: 2,
            budget: Budget::PerPlay(20),
            out: Some(out.to_owned()),
            model: ModelOptions {
                models: Models::parse(models).unwrap(),
                ..ModelOptions::default()
            },
            ..RunRequest::default()
        }
    }

    #[test]
    fn preview_writes_nothing_and_the_run_stays_in_its_range() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("run");
        let preview = request("model:m", &out).preview(&Builtin, None).unwrap();
        assert!(!out.exists());
        let estimate = preview.estimate.unwrap();
        let requests = estimate.total.requests;
        assert_eq!((requests.low, requests.high), (40, 48));
        let one = &estimate.environments[0];
        assert_eq!((one.plays, one.amounts), (2, estimate.total));
        let cost = estimate.total.cost_usd.unwrap();
        assert!(0.0 < cost.low && cost.low <= cost.likely && cost.likely <= cost.high);
        assert_eq!(estimate.total.cached_tokens.high, 0);
        let text = estimate.text();
        assert!(
            text.contains("kq19-v1") && text.contains("40 / 40 / 48"),
            "{text}"
        );
        assert!(text.contains("prices of 2026-11-01"), "{text}");

        let prepared = request("model:m", &out).prepare(&Builtin, None).unwrap();
        let results = run(
            &prepared.spec,
            &Builtin,
            &AtomicBool::new(false),
            &mut |_| {},
        );
        let calls = results.unwrap().summary.spent.unwrap().calls;
        assert!((requests.low..=requests.high).contains(&calls), "{calls}");
        let again = request("model:m", &out).preview(&Builtin, None);
        assert!(again.unwrap_err().to_string().contains("is not empty"));
    }

    #[test]
    fn agent_without_a_model_has_no_estimate() {
        let folder = tempfile::tempdir().unwrap();
        let mut random = request("random", &folder.path().join("run"));
        random.model = ModelOptions::default();
        let preview = random.preview(&Builtin, None).unwrap();
        assert_eq!((preview.estimate, preview.config.repeat), (None, 2));
    }
}
