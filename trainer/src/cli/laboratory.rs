//! Experiments opened, played and measured: what `values run` and `claims run` have in common.

use super::loops::beside;
use super::selfplay::open_shared_run;
use super::{Failure, OrBadInput, VERSION, load_judge, load_variant, load_weights, on_threads};
use crate::claims::Budget;
use crate::fit::first_move::GameLength;
use crate::laboratory::budget;
use crate::laboratory::experiment::{Experiment, ExperimentError, Findings, Goal, NarrowEnough};
use crate::laboratory::forecast::{DesignForecast, RefusedDesign, forecast};
use crate::laboratory::plan::Plan;
use crate::laboratory::report::LaboratoryReport;
use crate::named_judge::{self, JudgeContent, NamedJudge};
use crate::named_weights::{self, NamedWeights};
use crate::plan::folder_beside;
use crate::record;
use crate::run_dir::{PlanText, RunDir};
use crate::share::Share;
use crate::table::Style;
use anyhow::{Context, anyhow};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::network::NetworkFile;
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is saved of a plan: itself, what it was started with, and the time it was given.
#[derive(Serialize, Deserialize)]
struct SavedPlan<'a> {
    rules_hash: Cow<'a, str>,
    weights_digest: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
    #[serde(flatten)]
    plan: Cow<'a, Plan>,
}

/// A plan read from its file; files that it names may lie beside it.
pub(super) fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let doing = || format!("cannot use the plan {}", path.display());
    let text = std::fs::read_to_string(path).or_bad_input(doing)?;
    let mut plan = Plan::read(&text).or_bad_input(doing)?;
    plan.variant = beside(path, plan.variant);
    plan.weights = plan.weights.map(|weights| beside(path, weights));
    plan.adjudication.endgames = plan.adjudication.endgames.take().map(|named| folder_beside(path, &named));
    let variant = load_variant(&plan.variant)?;
    plan.check_units(&variant).or_bad_input(doing)?;
    Ok(plan)
}

/// The word for not asking a network.
pub(super) const NO_NETWORK: &str = "none";

/// An experiment that is to be played: by `values run`, or for claims.
pub(super) struct Laboratory<'a> {
    pub plan: Plan,
    pub budget: Option<Budget>,
    /// A network that is asked too; the one shipped if absent, [`NO_NETWORK`] for none.
    pub network: Option<&'a Path>,
    pub threads: usize,
    pub out: &'a Path,
    pub stop: &'a AtomicBool,
    /// Which games of a step are played.
    pub share: Share,
}

/// An experiment that was played.
pub(super) struct Played {
    pub plan: Plan,
    pub variant: Arc<Variant>,
    pub run: RunDir,
    pub digest: String,
    pub forecast: DesignForecast,
    pub findings: Findings,
    /// What to tell as the budget: the games asked for, or those that the time was turned into.
    pub budget: Option<u64>,
}

impl Laboratory<'_> {
    /// Forecasts, opens the run, plays and measures. `goal` is made from the plan as its budget leaves it.
    pub(super) fn play<G: Goal>(mut self, goal: impl FnOnce(&Plan) -> G) -> Result<Played, Failure> {
        let tools = self.tools()?;
        let asked = self.asked();
        if let Share::Part(_) = self.share {
            return Err(self.play_part(&asked, &tools, goal));
        }
        let mut forecast = self.forecast(&asked, &tools)?;
        let run = self.open(&asked, &tools)?;
        let bench = Bench { laboratory: &self, tools: &tools, run: &run };
        let budget = match self.budget {
            Some(Budget::Time(time)) => Some(bench.within(&asked, time)?),
            Some(Budget::Games(games)) => Some(games),
            None => None,
        };
        let plan = budget.map_or_else(|| self.plan.clone(), |games| self.plan.scaled_to(games));
        if plan != asked {
            forecast = self.forecast(&plan, &tools)?;
        }
        crate::errln!("before the first game, condition number {:.1}:", forecast.condition_number);
        crate::errln!("{}", forecast.table().in_style(Style::Plain).trim_end());
        let findings = bench.with(&plan, &goal(&plan), |experiment| experiment.run())?;
        let digest = record::digest(run.root()).context("cannot read the games back")?;
        Ok(Played { plan, variant: tools.variant, run, digest, forecast, findings, budget })
    }

    /// Plays a part of the games that come next, if any do, and says so.
    fn play_part<G: Goal>(&self, asked: &Plan, tools: &Tools, goal: impl FnOnce(&Plan) -> G) -> Failure {
        let played = || {
            let run = self.open(asked, tools)?;
            let plan = self.budgeted(&run)?;
            let bench = Bench { laboratory: self, tools, run: &run };
            bench.with(&plan, &goal(&plan), |experiment| experiment.run())
        };
        played().err().unwrap_or_else(|| Failure::complete(self.out))
    }

    /// The plan as its budget leaves it; time must have become games before, by whoever plays alone.
    fn budgeted(&self, run: &RunDir) -> Result<Plan, Failure> {
        Ok(match self.budget {
            None => self.plan.clone(),
            Some(Budget::Games(games)) => self.plan.scaled_to(games),
            Some(Budget::Time(time)) => match budget::fixed(run).or_bad_input(|| "cannot continue".into())? {
                Some(games) => self.plan.scaled_to(games),
                None => return Err(unshared(Budget::Time(time))),
            },
        })
    }

    /// Plays games that start level and nothing else; how long they last.
    pub(super) fn length_of_games(mut self, games: u64) -> Result<Option<GameLength>, Failure> {
        let tools = self.tools()?;
        let run = self.open(&self.plan, &tools)?;
        let bench = Bench { laboratory: &self, tools: &tools, run: &run };
        bench.with(&self.plan, &NarrowEnough(self.plan.clone()), |experiment| experiment.length_of_games(games))
    }

    /// Loads what the plan names, and notes in the plan which tables these were.
    fn tools(&mut self) -> Result<Tools, Failure> {
        let variant = load_variant(&self.plan.variant)?;
        let name = self.plan.weights.clone().unwrap_or_else(|| named_weights::usual(&variant).to_owned());
        let start = load_weights(&variant, Some(Path::new(&name)))?;
        let endgames = self.plan.adjudication.load_endgames(&variant, Path::to_path_buf);
        let endgames = endgames.or_bad_input(|| "cannot adjudicate by tables".into())?;
        let network = self.network(&variant)?;
        Ok(Tools { variant, start, endgames, network })
    }

    fn network(&self, variant: &Arc<Variant>) -> Result<Option<NamedJudge>, Failure> {
        match self.network {
            Some(name) if name == Path::new(NO_NETWORK) => Ok(None),
            None if NetworkFile::shipped(variant).is_none() => Ok(None),
            name => {
                let named = load_judge(variant, Some(name.unwrap_or(Path::new(named_judge::NETWORK))))?;
                if !matches!(named.content, JudgeContent::Network(_)) {
                    let got = name.unwrap_or(Path::new("")).display();
                    return Err(Failure::BadInput(anyhow!("--network: expected a network (*.net), got {got}")));
                }
                Ok(Some(named))
            }
        }
    }

    /// The plan as the run saves it: a budget of games is part of it, time is turned into games later.
    fn asked(&self) -> Plan {
        match self.budget {
            Some(Budget::Games(games)) => self.plan.scaled_to(games),
            Some(Budget::Time(_)) | None => self.plan.clone(),
        }
    }

    fn forecast(&self, plan: &Plan, tools: &Tools) -> Result<DesignForecast, Failure> {
        let forecast = on_threads(self.threads, || forecast(plan, &tools.variant, &tools.start.weights, self.stop))?;
        match forecast {
            Err(RefusedDesign::Stopped) => Err(Failure::Interrupted("stopped before the first game".into())),
            forecast => forecast.or_bad_input(|| "the experiment would not answer".into()),
        }
    }

    fn open(&self, plan: &Plan, tools: &Tools) -> Result<RunDir, Failure> {
        let budget = self.budget.filter(|budget| matches!(budget, Budget::Time(_))).map(|budget| budget.to_string());
        let (rules_hash, weights_digest) = (tools.variant.rules_hash().into(), (&tools.start.digest).into());
        let saved = SavedPlan { rules_hash, weights_digest, budget, plan: Cow::Borrowed(plan) };
        open_shared_run(self.out, PlanText::of(&saved).context("cannot write the plan as TOML")?, self.share)
    }
}

impl Played {
    pub(super) fn report<'a>(&'a self, command: &'a str) -> LaboratoryReport<'a> {
        LaboratoryReport {
            plan: &self.plan,
            variant: &self.variant,
            version: VERSION,
            command,
            digest: &self.digest,
            forecast: &self.forecast,
            findings: &self.findings,
        }
    }
}

/// What a plan names, loaded.
struct Tools {
    variant: Arc<Variant>,
    start: NamedWeights,
    endgames: Option<Arc<Tables>>,
    network: Option<NamedJudge>,
}

/// A run with what is needed to play in it.
struct Bench<'a> {
    laboratory: &'a Laboratory<'a>,
    tools: &'a Tools,
    run: &'a RunDir,
}

impl Bench<'_> {
    fn with<T: Send>(
        &self,
        plan: &Plan,
        goal: &dyn Goal,
        work: impl FnOnce(&Experiment<'_>) -> Result<T, ExperimentError> + Send,
    ) -> Result<T, Failure> {
        let &Self { laboratory, tools, run } = self;
        let experiment = Experiment {
            plan,
            variant: &tools.variant,
            run,
            start: &tools.start.weights,
            endgames: tools.endgames.as_deref(),
            network: tools.network.as_ref(),
            stop: laboratory.stop,
            goal,
            share: laboratory.share,
        };
        on_threads(laboratory.threads, || work(&experiment))?.map_err(|error| cut_off(error, run.root()))
    }

    /// As many games in all as the time allows, by the speed of the first.
    fn within(&self, plan: &Plan, time: Duration) -> Result<u64, Failure> {
        let games = match budget::fixed(self.run).or_bad_input(|| "cannot continue".into())? {
            Some(games) => games,
            None if self.laboratory.share != Share::All => return Err(unshared(Budget::Time(time))),
            None => {
                let each = self.with(plan, &NarrowEnough(plan.clone()), |experiment| experiment.pace())?;
                let games = plan.games_within(time, each).max(1);
                budget::fix(self.run, games).context("cannot write the games that the time allows")?;
                games
            }
        };
        crate::errln!("about {games} games in all, by the speed of the first");
        Ok(games)
    }
}

fn cut_off(error: ExperimentError, out: &Path) -> Failure {
    if let Some(shared) = error.shared() {
        return Failure::shared(shared, out);
    }
    if error.is_stop() {
        let out = out.display();
        return Failure::Interrupted(format!("stopped; what is finished is in {out}, the same command continues"));
    }
    Failure::Failed(anyhow::Error::from(error).context(
        "the experiment stopped; the same command continues after the last finished games. \
             `fairyforge data verify` names damaged ones: remove both files of these",
    ))
}

/// Time becomes games by the speed of the machine that plays, so there must be one.
fn unshared(budget: Budget) -> Failure {
    Failure::BadInput(anyhow!("--budget: expected games for several processes to share, got {budget}"))
}
