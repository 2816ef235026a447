//! `fairyforge merge`.

use super::Failure;
use super::output::outln;
use crate::run_dir::{RunDirError, UniteError, unite};
use anyhow::Error;
use std::path::PathBuf;

/// Make one run of several folders in which parts of it were played.
///
/// All must have the same plan and version. Files are copied, none is changed; what the command that plays the run says with --merge then
/// is what it says of one folder in which all parts were played.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  fairyforge selfplay --variant chess --games 400 --nodes 100 --seed 1 --shard 1/2 --out one\n  fairyforge selfplay --variant chess --games 400 --nodes 100 --seed 1 --shard 2/2 --out two\n  fairyforge merge one two --out whole\n  fairyforge data verify whole"
)]
pub struct MergeArgs {
    /// The runs.
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The run that gets everything; it may be there already.
    #[arg(long)]
    out: PathBuf,
}

pub(super) fn run(args: &MergeArgs) -> Result<(), Failure> {
    let united = unite(&args.runs, &args.out).map_err(|error| {
        let is_input = matches!(&error, UniteError::Differs { .. })
            || matches!(&error, UniteError::Run(error) if !matches!(error, RunDirError::File(_)));
        let error = Error::from(error).context("cannot make one run of these");
        if is_input { Failure::BadInput(error) } else { Failure::Failed(error) }
    })?;
    let known = if united.known > 0 { format!(", {} were there", united.known) } else { String::new() };
    outln!("{} files copied{known}; {} runs in {}", united.copied, args.runs.len(), args.out.display())
}
