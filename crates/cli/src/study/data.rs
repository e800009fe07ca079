//! `rhae study pay|export|erase|verify`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_protocol::{ParticipantId, StudyId};
use rhae_report::payments_text;
use rhae_store::{IdentityRead, default_identities, open_identities};
use rhae_study_service::{
    Contact, IdentityKey, OpenPayment, confirm_batch, erase_person, export_study, open_payments,
    payment_csv, prolific_lines, read_contact, send_batch, study_payments, verify_stored_study,
    write_new_file,
};

use super::{Opened, StudyIdArgs, finish, now};
use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Where the identities of participants are.
#[derive(Args)]
struct IdentityArgs {
    /// Key file that decrypts contact data
    #[arg(long, value_name = "FILE")]
    identity_key: Option<PathBuf>,
    /// Database of contact data: a file or a PostgreSQL URL [default: NAME-identities.db next to the
    /// database file NAME.db, or the same PostgreSQL database]
    #[arg(long, value_name = "FILE|URL", hide_env_values = true)]
    identities: Option<PathBuf>,
}

impl IdentityArgs {
    fn database(&self, study: &StudyIdArgs) -> PathBuf {
        let given = self.identities.clone();
        given.unwrap_or_else(|| default_identities(&study.database.db))
    }
}

/// Show what people are owed, write payment lists, and record payments.
///
/// Exclusions never change pay. `--send` marks everything that is due as sent in a batch, after the
/// list was written; `--confirm` marks a batch as received. Every look at contact data is recorded.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study pay lab-1
  rhae study pay lab-1 --list due.csv --identity-key identity.key --by ada
  rhae study pay lab-1 --list bonus.txt --prolific --identity-key identity.key --by ada
  rhae study pay lab-1 --send 2026-11-18
  rhae study pay lab-1 --confirm 2026-11-18")]
pub(super) struct PayArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Write the list of open payments to a new file
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Write the list as lines for Prolific's bulk payment
    #[arg(long, requires = "list", requires = "identity_key")]
    prolific: bool,
    /// Mark everything that is due as sent in a batch of this name
    #[arg(long, value_name = "BATCH", conflicts_with = "confirm")]
    send: Option<String>,
    /// Mark the payments of a batch as confirmed
    #[arg(long, value_name = "BATCH")]
    confirm: Option<String>,
    /// Who looks at contact data
    #[arg(long, required_if_eq("prolific", "true"))]
    by: Option<String>,
    #[command(flatten)]
    identity: IdentityArgs,
}

pub(super) async fn pay(args: &PayArgs) -> Result<ExitCode> {
    ensure!(
        args.identity.identity_key.is_none() || args.by.is_some(),
        "--identity-key needs --by: every look at contact data is recorded with a name"
    );
    let (opened, id) = Opened::study(&args.study).await?;
    if let Some(file) = &args.list {
        let open = opened
            .service
            .read(&id, |study| open_payments(study.state()));
        let open = open.await?;
        write_list(args, &id, file, &open).await?;
    }
    if let Some(batch) = &args.send {
        send_batch(&opened.service, &id, now(), batch).await?;
    }
    if let Some(batch) = &args.confirm {
        confirm_batch(&opened.service, &id, now(), batch).await?;
    }
    let payments = opened
        .service
        .read(&id, |study| study_payments(study.state()));
    let payments = payments.await?;
    opened.close().await;
    if args.study.database.json {
        output::print_json(&payments)?;
    } else {
        output::print(&payments_text(&payments))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn write_list(args: &PayArgs, id: &StudyId, file: &Path, open: &[OpenPayment]) -> Result<()> {
    let mut contacts: BTreeMap<ParticipantId, Contact> = BTreeMap::new();
    if let (Some(key), Some(by)) = (&args.identity.identity_key, &args.by) {
        let key = IdentityKey::read(key)?;
        let store = open_identities(&args.identity.database(&args.study)).await?;
        for payment in open {
            let read = IdentityRead {
                study: id.clone(),
                participant: payment.participant.clone(),
                by: by.clone(),
                reason: "payment list".to_owned(),
                at_ms: now().now_ms,
            };
            if let Some(contact) = read_contact(store.as_ref(), &key, read).await? {
                contacts.insert(payment.participant.clone(), contact);
            }
        }
    }
    let text = if args.prolific {
        let (lines, unknown) = prolific_lines(open, &contacts);
        for participant in unknown {
            eprintln!("warning: `{participant}` has no external id and is not on the list");
        }
        lines
    } else {
        payment_csv(open, &contacts)
    };
    write_new_file(file, &text).with_context(|| format!("cannot write `{}`", file.display()))
}

/// Write the data of a study to a new folder, in Psych-DS form with a manifest.
///
/// The export is the state at one moment; the study may continue. A public export contains only what
/// may be published: k-anonymous answers, relative times, and the recordings of people who agreed.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study export lab-1 data-lab-1
  rhae study export lab-1 public-lab-1 --public")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Folder, which must be empty or not exist
    folder: PathBuf,
    /// Write only what may be published
    #[arg(long)]
    public: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn export(args: &ExportArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let (opened, id) = Opened::study(&args.study).await?;
    let records = opened.service.records(&id).await?;
    let store = opened.database.store();
    let exported = export_study(&records, store.as_ref(), &games, &args.folder, args.public);
    let exported = exported.await?;
    drop(store);
    opened.close().await;
    if args.study.database.json {
        output::print_json(&exported)?;
    } else {
        let files = output::counted(exported.files.len() as u64, "file");
        output::print(&format!("{}: {files}", args.folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Erase all data of a person: records, plays and contact data.
///
/// The rest of the log stays verifiable. Until the study is closed, only the person key and the
/// families of environments that the person has seen remain, so that nobody meets an environment
/// for the first time twice. Backups and exports must be erased separately.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae study erase lab-1 --participant 0f3a")]
pub(super) struct EraseArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    /// Participant, by the pseudonym
    #[arg(long, value_name = "ID")]
    participant: String,
    /// Database of contact data [default: as for `rhae study pay`]
    #[arg(long, value_name = "FILE|URL", hide_env_values = true)]
    identities: Option<PathBuf>,
}

pub(super) async fn erase(args: &EraseArgs) -> Result<ExitCode> {
    let (opened, id) = Opened::study(&args.study).await?;
    let given = args.identities.clone();
    let at = given.unwrap_or_else(|| default_identities(&args.study.database.db));
    let identities = open_identities(&at).await?;
    let participant = ParticipantId::from(args.participant.as_str());
    let erased = erase_person(
        &opened.service,
        identities.as_ref(),
        &id,
        now(),
        &participant,
    );
    let records = erased.await?;
    let text = format!("erased `{participant}`; erase backups and exports separately");
    finish(opened, &args.study, id, &records, &text).await
}

/// Verify a study: its log, its exclusions, its books, its published numbers and all plays.
///
/// Every play is replayed and counted again. The exit code is 1 if there is a finding.
#[derive(Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    study: StudyIdArgs,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) async fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let games = args.hosted.games()?;
    let (opened, id) = Opened::study(&args.study).await?;
    let store = opened.database.store();
    let verified = verify_stored_study(&opened.service, store.as_ref(), &games, &id).await?;
    drop(store);
    opened.close().await;
    if args.study.database.json {
        output::print_json(&verified)?;
    } else {
        for finding in &verified.findings {
            output::print(&output::plain(finding))?;
        }
        output::print(&format!(
            "{} records, {} plays replayed, {} publications, {} findings",
            verified.records,
            verified.replayed,
            verified.publications,
            verified.findings.len()
        ))?;
    }
    Ok(if verified.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
