//! Checks the licences of all dependencies against the list in `deny.toml`.
//!
//! A licence is an SPDX expression, and the `spdx` crate evaluates it: in `(MIT OR Apache-2.0) AND
//! GPL-3.0-only` both sides of `AND` must be allowed. `cargo deny` applies the same list, and also
//! checks advisories, sources and duplicate versions, but it is not installed everywhere.

use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use crate::cargo::cargo;
use crate::test::succeed;
use crate::{requirements, root};

/// Checks every package of the workspace, then runs `cargo deny` if it is installed.
pub(crate) fn check(packages: &[Value], violations: &mut Vec<String>) -> Result<()> {
    check_packages(packages, violations)?;
    if requirements::on_path("cargo-deny") {
        let mut deny = cargo();
        // Advisories need a download, so only the workflow on GitHub checks them.
        deny.args(["deny", "check", "licenses", "bans", "sources"]);
        if let Err(error) = succeed(deny.current_dir(root())) {
            violations.push(format!("{error:#}"));
        }
    }
    Ok(())
}

/// Checks every package of the output of `cargo metadata`.
pub(crate) fn check_packages(packages: &[Value], violations: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let allowed = Allowed::parse(&text)?;
    for package in packages {
        let name = package["name"].as_str().context("a package has a name")?;
        let Some(licence) = package["license"].as_str() else {
            violations.push(format!("{name} declares no licence"));
            continue;
        };
        if let Err(reason) = allowed.check(licence) {
            violations.push(format!("{name}: {reason}"));
        }
    }
    Ok(())
}

/// The licences that `deny.toml` allows.
struct Allowed(Vec<Licensee>);

impl Allowed {
    fn parse(deny: &str) -> Result<Self> {
        let deny: toml::Table = deny.parse().context("deny.toml")?;
        let licences = deny
            .get("licenses")
            .and_then(|section| section.get("allow"))
            .and_then(toml::Value::as_array)
            .context("deny.toml has no list `licenses.allow`")?;
        let parse = |licence: &toml::Value| {
            let name = licence
                .as_str()
                .context("`licenses.allow` in deny.toml contains a value that is not a string")?;
            Licensee::parse(name)
                .map_err(|error| anyhow::anyhow!("`{name}` in deny.toml: {}", error.reason))
        };
        Ok(Self(licences.iter().map(parse).collect::<Result<_>>()?))
    }

    /// Returns an error unless the allowed licences satisfy the expression.
    fn check(&self, expression: &str) -> Result<(), String> {
        // Old packages write `MIT/Apache-2.0`, which only the lax mode accepts.
        let parsed = Expression::parse_mode(expression, ParseMode::LAX).map_err(|error| {
            format!(
                "the licence `{expression}` is not an SPDX expression ({})",
                error.reason
            )
        })?;
        let accepts = |required: &spdx::LicenseReq| {
            self.0
                .iter()
                .any(|licensee: &Licensee| licensee.satisfies(required))
        };
        if parsed.evaluate(accepts) {
            Ok(())
        } else {
            Err(format!(
                "deny.toml does not allow the licence `{expression}`"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "MPL-2.0", "Unicode-3.0"]
        [bans]
        multiple-versions = "warn"
    "#;

    #[test]
    fn expressions_are_evaluated() {
        let allowed = Allowed::parse(DENY).unwrap();
        for (expression, accepted) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR Apache-2.0) AND GPL-3.0-only", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("GPL-2.0-only OR (MIT AND Apache-2.0)", true),
            ("GPL-2.0-only OR (MIT AND AGPL-3.0-only)", false),
            ("MIT/Apache-2.0", true),
            ("GPL-2.0/AGPL-3.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-2.0-only WITH Classpath-exception-2.0", false),
            ("MPL-2.0+", true),
            ("LicenseRef-Unknown", false),
        ] {
            assert_eq!(allowed.check(expression).is_ok(), accepted, "{expression}");
        }
    }

    #[test]
    fn exception_is_part_of_an_allowed_licence() {
        let allowed = Allowed::parse("[licenses]\nallow = ['Apache-2.0']").unwrap();
        assert!(allowed.check("Apache-2.0").is_ok());
        assert!(allowed.check("Apache-2.0 WITH LLVM-exception").is_err());
    }

    #[test]
    fn invalid_expression_is_rejected() {
        let allowed = Allowed::parse(DENY).unwrap();
        for expression in ["", "MIT OR", "NOPE-1.0", "(MIT"] {
            let reason = allowed.check(expression).unwrap_err();
            assert!(reason.contains("is not an SPDX expression"), "{reason}");
        }
    }

    #[test]
    fn invalid_list_is_rejected() {
        for deny in [
            "",
            "[licenses]\nallow = 'MIT'",
            "[licenses]\nallow = ['NOPE-1.0']",
            "[licenses]\nallow = [1]",
        ] {
            assert!(Allowed::parse(deny).is_err(), "{deny}");
        }
    }
}
