//! Flags whose values come from a list in a library: their help, errors and completions name the
//! entries of that list.

use clap::builder::{PossibleValue, TypedValueParser};
use rhae_agents::AGENTS;
use rhae_scoring::Method;
use rhae_validate::Rule;

/// A parser that shows the entries of a list as the possible values of a flag. Which values are
/// valid is decided by `parse`, because a value may carry an argument, as in `replay:FILE`.
#[derive(Clone)]
pub(crate) struct Listed<T> {
    values: fn() -> Vec<PossibleValue>,
    parse: fn(&str) -> Result<T, String>,
}

/// Returns the parser of `--agent`. Whether the agent exists is checked when it is created.
pub(crate) fn agent() -> Listed<String> {
    Listed {
        values: || {
            let agents = AGENTS.iter().chain(rhae_harness::AGENTS_WITH_TOOLS);
            agents.map(|entry| entry.form.into()).collect()
        },
        parse: |name| Ok(name.to_owned()),
    }
}

/// Returns the parser of `--method`.
pub(crate) fn method() -> Listed<Method> {
    Listed {
        values: || Method::ALL.map(|method| method.name().into()).to_vec(),
        parse: |name| name.parse::<Method>().map_err(|error| error.to_string()),
    }
}

/// Returns the parser of `--rule`.
pub(crate) fn rule() -> Listed<Rule> {
    Listed {
        values: || {
            let value = |rule: &Rule| PossibleValue::new(rule.name()).help(rule.requirement());
            Rule::ALL.iter().map(value).collect()
        },
        parse: |name| name.parse::<Rule>().map_err(|error| error.to_string()),
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Listed<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter()))
    }
}
