//! From words to players: weights and search parameters loaded, limits filled in, names made.

use super::LimitArgs;
use super::spec::PlayerSpec;
use crate::arena::external::{EngineCommand, Launcher};
use crate::arena::journal::JournalPlayer;
use crate::arena::plan::PlayerPlan;
use crate::arena::{Contestant, Entrant, Introduction, OwnEngine};
use crate::cli::{Failure, OrBadInput, load_judge};
use crate::named_judge;
use crate::play::Allowance;
use anyhow::anyhow;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most players of a match.
const MOST_PLAYERS: usize = 100;
/// Size of a player's table where nothing is said, in mebibytes: emptying it takes time before every game, which shows where games
/// are short.
const TABLE_MEBIBYTES: usize = 1;
/// The same for a player on time.
const TABLE_MEBIBYTES_ON_TIME: usize = 16;

/// The players of a match, ready to play and as its plan saves them.
pub(super) struct Players {
    /// Ready to play.
    pub contestants: Vec<Contestant>,
    /// As the plan saves them.
    pub plans: Vec<PlayerPlan>,
    /// Starts those outside.
    launcher: Launcher,
}

impl Players {
    /// Loads everything the players are made of.
    pub fn new(
        variant: &Arc<Variant>,
        specs: &[PlayerSpec],
        limits: &LimitArgs,
        launcher: Launcher,
    ) -> Result<Self, Failure> {
        if !(2..=MOST_PLAYERS).contains(&specs.len()) {
            let error = anyhow!("expected 2 to {MOST_PLAYERS} players, got {}", specs.len());
            return Err(error).or_bad_input(|| "nobody to play; see --player".into());
        }
        let mut players = Self { contestants: Vec::new(), plans: Vec::new(), launcher };
        for spec in specs {
            players.add(variant, spec, limits)?;
        }
        Ok(players)
    }

    fn add(&mut self, variant: &Arc<Variant>, spec: &PlayerSpec, limits: &LimitArgs) -> Result<(), Failure> {
        let name = self.free_name(spec)?;
        let doing = || format!("cannot set up the player {name}");
        let general = Allowance { nodes: limits.nodes, depth: limits.depth, time: limits.tc };
        let allowance = if spec.limits.is_endless() { general } else { spec.limits };
        if allowance.is_endless() {
            return Err(anyhow!("expected a limit of its moves (nodes, depth or tc), got none")).or_bad_input(doing);
        }
        let (entrant, plan) = match &spec.cmd {
            Some(cmd) => self.external(spec, cmd),
            None => own(variant, spec, &allowance, doing)?,
        };
        self.plans.push(PlayerPlan { name: name.clone(), limits: allowance, ..plan });
        self.contestants.push(Contestant { name, allowance, entrant });
        Ok(())
    }

    fn external(&self, spec: &PlayerSpec, cmd: &str) -> (Entrant, PlayerPlan) {
        let command = EngineCommand {
            cmd: cmd.to_owned(),
            dir: spec.dir.clone(),
            options: spec.options.iter().cloned().collect(),
            proto: spec.proto.unwrap_or_default(),
        };
        let plan = PlayerPlan { engine: Some(command.clone()), ..PlayerPlan::default() };
        (Entrant::External { command, launcher: self.launcher.clone() }, plan)
    }

    /// Lets every player introduce itself, and tells what the user should know.
    pub fn introduce(&self, variant: &Arc<Variant>, stop: &AtomicBool) -> Result<Vec<JournalPlayer>, Failure> {
        let introduction = |contestant: &Contestant| {
            let doing = || format!("cannot set up the player {}", contestant.name);
            let introduced = contestant.introduce(variant);
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted("stopped before the first game".into()));
            }
            let Introduction { player, remarks } = introduced.or_bad_input(doing)?;
            remarks.iter().for_each(|remark| crate::errln!("{remark}"));
            Ok(player)
        };
        self.contestants.iter().map(introduction).collect()
    }

    /// The name given, or one made of what makes the player special; with a number behind it if that is taken.
    fn free_name(&self, spec: &PlayerSpec) -> Result<String, Failure> {
        let is_taken = |name: &str| self.plans.iter().any(|player| player.name == name);
        if let Some(name) = &spec.name {
            if is_taken(name) {
                return Err(anyhow!("expected players of different names, got {name:?} twice"))
                    .or_bad_input(|| "cannot tell the players apart".into());
            }
            return Ok(name.clone());
        }
        let name = usual_name(spec);
        let numbered = |number: usize| if number == 1 { name.clone() } else { format!("{name} #{number}") };
        Ok((1..).map(numbered).find(|name| !is_taken(name)).unwrap_or(name.clone()))
    }
}

/// Our engine.
fn own(
    variant: &Arc<Variant>,
    spec: &PlayerSpec,
    allowance: &Allowance,
    doing: impl FnOnce() -> String,
) -> Result<(Entrant, PlayerPlan), Failure> {
    let name = spec.weights.as_deref().unwrap_or_else(|| Path::new(named_judge::usual(variant)));
    let named = load_judge(variant, Some(name))?;
    let params = params(spec).or_bad_input(doing)?;
    let usual_table = if allowance.time.is_some() { TABLE_MEBIBYTES_ON_TIME } else { TABLE_MEBIBYTES };
    let table_mebibytes = spec.hash.unwrap_or(usual_table);
    let plan = PlayerPlan {
        weights: Some(named.digest.clone()),
        table_mebibytes: Some(table_mebibytes),
        search: params.changed().map(|(row, value)| (row.name.to_owned(), value)).collect(),
        ..PlayerPlan::default()
    };
    let engine = OwnEngine { judge: named.judge, weights: named.digest, params, table_mebibytes };
    Ok((Entrant::Own(engine), plan))
}

fn usual_name(spec: &PlayerSpec) -> String {
    if let Some(cmd) = &spec.cmd {
        let program = shlex::split(cmd).and_then(|words| words.into_iter().next()).unwrap_or_else(|| cmd.clone());
        return Path::new(&program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    }
    let file = |path: &Path| path.display().to_string();
    let made_of = spec.weights.as_deref().map(file).into_iter().chain(spec.search.as_deref().map(file));
    let options = spec.options.iter().map(|(name, value)| format!("{name}={value}"));
    let parts: Vec<String> = made_of.chain(options).collect();
    if parts.is_empty() { "fairyforge".to_owned() } else { parts.join(", ") }
}

/// The search parameters: those of the file, changed one by one.
fn params(spec: &PlayerSpec) -> anyhow::Result<Params> {
    let mut params = match &spec.search {
        Some(path) => {
            let told = || format!("cannot read search parameters from {}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| anyhow!(error).context(told()))?;
            Params::read(&text).map_err(|error| anyhow!(error).context(told()))?
        }
        None => Params::default(),
    };
    for (name, value) in &spec.options {
        let doing = || format!("cannot set the search parameter {:?}", format!("{name}={value}"));
        let number = value.parse().map_err(|_| anyhow!("expected a whole number, got {value:?}").context(doing()))?;
        params.set(name, number).map_err(|error| anyhow!(error).context(doing()))?;
    }
    Ok(params)
}
