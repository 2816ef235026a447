//! `fairyforge sprt`: a sequential test on counts, by hand or from a script.

use super::output::outln;
use super::{Failure, OrBadInput};
use crate::arena::sprt::{Decision, EloModel, Results, Sprt, SprtReport, SprtSettings};
use crate::arena::statistics::{GameCounts, MatchTally, PairCounts};

/// Say what the results of a match so far mean for two hypotheses about the Elo difference.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge sprt --penta 12,55,96,77,22 --elo0 0 --elo1 10\n  fairyforge sprt --wdl 36433,68692,36027 --elo0 0 --elo1 2 --model logistic --json\n  fairyforge sprt --penta 2,10,40,12,6 --wdl 44,62,34 --elo0 0 --elo1 10 --model bayesian\n\nThe decision is H0, H1 or continue. Elo and its interval allow for the moment at which the test stops; JSON has\nthose of a fixed number of games under \"fixed\"."
)]
pub struct SprtArgs {
    /// Pairs of games by points: lost both, half a point, one point (two draws, or a win and a loss), one and a half, won
    /// both.
    #[arg(long, value_name = "LL,LD,M,WD,WW", value_parser = pairs, required_unless_present = "wdl")]
    penta: Option<PairCounts>,
    /// Games won, drawn and lost: alone where nothing is paired, beside `--penta` for the bayesian model's draws.
    #[arg(long, value_name = "W,D,L", value_parser = games)]
    wdl: Option<GameCounts>,
    /// Elo difference under H0, in the model's Elo.
    #[arg(long, allow_negative_numbers = true)]
    elo0: f64,
    /// Elo difference under H1, above the other.
    #[arg(long, allow_negative_numbers = true)]
    elo1: f64,
    /// Probability of accepting H1 at elo0.
    #[arg(long, default_value_t = SprtSettings::usual_error(), allow_negative_numbers = true)]
    alpha: f64,
    /// Probability of accepting H0 at elo1.
    #[arg(long, default_value_t = SprtSettings::usual_error(), allow_negative_numbers = true)]
    beta: f64,
    /// What an Elo is.
    #[arg(long, value_enum, default_value_t)]
    model: EloModel,
    /// Decide nothing before so many pairs (or games, where nothing is paired).
    #[arg(long, default_value_t = 0)]
    min_pairs: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SprtArgs) -> Result<(), Failure> {
    let doing = || "cannot test these hypotheses".to_owned();
    let settings = SprtSettings {
        elo0: args.elo0,
        elo1: args.elo1,
        alpha: args.alpha,
        beta: args.beta,
        model: args.model,
        minimum: args.min_pairs,
    };
    let sprt = Sprt::new(settings).or_bad_input(doing)?;
    let report = sprt.report(&results(args)?).or_bad_input(doing)?;
    if args.json {
        return outln!("{}", report.to_json());
    }
    for (name, value) in in_words(&report) {
        outln!("{name:<9} {value}")?;
    }
    Ok(())
}

fn results(args: &SprtArgs) -> Result<Results, Failure> {
    match (args.penta, args.wdl) {
        (Some(pairs), Some(games)) => {
            let tally = MatchTally::from_counts(games, pairs, 0);
            Ok(Results::Match(tally.or_bad_input(|| "--penta and --wdl do not belong together".into())?))
        }
        (Some(pairs), None) => Ok(Results::Pairs(pairs)),
        (None, games) => Ok(Results::Games(games.unwrap_or_default())),
    }
}

/// Names with what they are.
fn in_words(report: &SprtReport) -> Vec<(&'static str, String)> {
    let SprtSettings { elo0, elo1, alpha, beta, model, minimum } = report.settings;
    let (bounds, estimate) = (report.bounds, report.estimate);
    let verdict = match report.decision {
        Decision::AcceptH0 => format!("H0: the difference is {elo0} rather than {elo1}"),
        Decision::AcceptH1 => format!("H1: the difference is {elo1} rather than {elo0}"),
        Decision::Continue if report.results.observations() < minimum => format!("continue, at least to {minimum}"),
        Decision::Continue => "continue".to_owned(),
    };
    let nelo =
        report.fixed.normalized_elo().known().map_or("n/a (no variance yet)".into(), |nelo| format!("{nelo:+.2}"));
    vec![
        ("results", format!("{} ({}, {})", report.results, report.results.statistic(), report.results.observations())),
        ("model", format!("{model} Elo, H0 {elo0}, H1 {elo1}, alpha {alpha}, beta {beta}")),
        ("LLR", format!("{:.3}, bounds {:.3} and {:.3}", report.llr + 0.0, bounds.lower, bounds.upper)),
        ("decision", verdict),
        ("Elo", format!("{} (95 %, median-unbiased)", report.told_elo(2))),
        ("nElo", nelo),
        ("LOS", format!("{:.1} %", 100.0 * estimate.los)),
    ]
}

/// Reads five counts.
fn pairs(text: &str) -> Result<PairCounts, String> {
    counts(text).map(PairCounts)
}

/// Reads wins, draws and losses.
fn games(text: &str) -> Result<GameCounts, String> {
    counts(text).map(|[wins, draws, losses]| GameCounts { wins, draws, losses })
}

fn counts<const K: usize>(text: &str) -> Result<[u64; K], String> {
    let read = |part: &str| {
        part.trim().parse::<u64>().map_err(|_| format!("expected a whole number from 0 on, got {:?}", part.trim()))
    };
    let counts = text.split(',').map(read).collect::<Result<Vec<_>, _>>()?;
    let got = counts.len();
    counts.try_into().map_err(|_| format!("expected {K} numbers with commas between them, got {got}"))
}
