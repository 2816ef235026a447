//! From a plan to a run: files loaded, names looked up, defaults filled in, and all that is wrong told together, before
//! the first game.

use super::objective::GameSettings;
use super::plan::{Confirm, FORMAT, Faults, Parameter, Plan};
use super::spsa::{Kind, Setting};
use super::targets::{Engine, Span, Target};
use super::tuner::{Course, Tuner};
use crate::arena::openings::{OpeningBook, OpeningError, OpeningFile, OpeningSource};
use crate::arena::sprt::Sprt;
use crate::checksum::text_digest;
use crate::named_weights::{self, NamedWeights};
use crate::plan::{MOST_NODES, MOST_TABLE_MEBIBYTES, check_adjudication, check_openings, folder_beside};
use fairyforge_engine::endgame::Tables;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::search::Params;
use fairyforge_engine::variant::Variant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bounds of what a plan may ask for; they catch slips of the keyboard.
const MOST_ITERATIONS: u64 = 10_000_000;
const MOST_PAIRS: u64 = 100_000;
/// Step at the end where a plan says nothing: what Fishtest proposes.
const USUAL_R_END: f64 = 0.002;

/// A run, ready to begin.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The plan with every number filled in.
    pub plan: Plan,
    /// The game.
    pub variant: Arc<Variant>,
    /// The player before tuning, with the parameters at their starts.
    pub engine: Engine,
    /// Digest of the search file it was started from.
    pub search_digest: String,
    /// Digest of its weights.
    pub weights_digest: String,
    /// Where games begin.
    openings: OpeningSource,
    /// Tables that end games, as the adjudication names them.
    pub endgames: Option<Arc<Tables>>,
    /// What is tuned, in the plan's order.
    pub targets: Vec<Target>,
    /// The mathematics.
    pub tuner: Tuner,
}

/// What a run keeps of its plan: the plan with every number filled in, and what its files were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    /// `tune spsa`.
    pub kind: String,
    /// The variant's name.
    pub variant: String,
    /// The variant's rules hash.
    pub rules_hash: String,
    /// Digest of the search file, or `defaults`.
    pub search: String,
    /// Digest of the weights.
    pub weights: String,
    /// The plan.
    pub plan: Plan,
}

/// What [`SavedPlan`] says it is.
const KIND: &str = "tune spsa";

impl SavedPlan {
    /// Reads what a run has kept.
    ///
    /// # Errors
    /// The text is not the plan of a tuning run.
    pub fn read(text: &str) -> Result<Self, Faults> {
        let kind = text.parse::<toml::Table>().ok().and_then(|table| table.get("kind").cloned());
        if kind.as_ref().and_then(toml::Value::as_str) != Some(KIND) {
            let got = kind.map_or("something else".into(), |kind| kind.to_string());
            return Err(Faults(vec![format!("expected a run of kind {KIND:?}, got {got}")]));
        }
        toml::from_str(text).map_err(|error| Faults(vec![error.to_string()]))
    }

    /// The mathematics of the run.
    ///
    /// # Errors
    /// Its parameters are not filled in.
    pub fn tuner(&self) -> Result<Tuner, Faults> {
        let complete = |parameter: &Parameter| {
            let Parameter { start, min, max, c_end, r_end, .. } = *parameter;
            Some(Setting { start: start?, min: min?, max: max?, c_end: c_end?, r_end: r_end?, kind: Kind::Whole })
        };
        let settings: Option<Vec<_>> = self.plan.parameters.iter().map(complete).collect();
        let settings = settings.ok_or_else(|| Faults(vec!["expected parameters with all their numbers".into()]))?;
        if self.plan.iterations == 0 || self.plan.pairs_per_iteration == 0 {
            return Err(Faults(vec!["expected iterations and pairs above 0".into()]));
        }
        Ok(Tuner::new(settings, &self.plan.course()))
    }
}

impl Plan {
    /// What decides the run beside its parameters.
    #[must_use]
    pub const fn course(&self) -> Course {
        let Self { iterations, pairs_per_iteration, seed, alpha, gamma, a_ratio, .. } = *self;
        Course { iterations, pairs_per_iteration, seed, alpha, gamma, a_ratio }
    }

    /// How its games are played.
    #[must_use]
    pub fn games(&self) -> GameSettings {
        GameSettings {
            nodes: self.nodes,
            table_mebibytes: self.table_mebibytes,
            adjudication: self.adjudication.clone(),
        }
    }

    /// The names of what is tuned.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.parameters.iter().map(|parameter| parameter.name.clone()).collect()
    }
}

impl Setup {
    /// Checks a plan that lies at `path` (files that it names may lie beside it) and makes it ready.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn new(mut plan: Plan, path: &Path) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        check_numbers(&plan, &mut faults);
        let files = Files { folder_of: path };
        let variant = files.variant(&plan.variant).map_err(|error| faults.note(error)).ok().map(Arc::new);
        let params = files.params(plan.search.as_deref()).map_err(|error| faults.note(error)).ok();
        let name = plan.weights.clone();
        let loaded = variant.as_ref().map(|variant| files.weights(variant, name.as_deref()));
        let weights = loaded.and_then(|loaded| loaded.map_err(|error| faults.note(error)).ok());
        let (Some(variant), Some((params, search_digest)), Some((weights, weights_digest))) =
            (variant, params, weights)
        else {
            return Err(faults);
        };
        let placed = files.placed(&plan.openings);
        let openings = match OpeningBook::open(&variant, &placed, plan.seed) {
            Ok(book) => book.source().clone(),
            Err(error) => {
                faults.note(format_args!("openings: {error}"));
                placed
            }
        };
        note_digest(&mut plan.openings, &openings);
        let placed = |named: &Path| folder_beside(path, named);
        let endgames = plan.adjudication.load_endgames(&variant, placed).map_err(|error| faults.note(error));
        let base = Engine { params, weights };
        let found = resolve(&mut plan.parameters, &variant, &base, &mut faults);
        let (true, Ok(endgames)) = (faults.0.is_empty(), endgames) else { return Err(faults) };
        let (targets, settings): (Vec<Target>, Vec<Setting>) = found.into_iter().unzip();
        let tuner = Tuner::new(settings, &plan.course());
        let engine = base.with(&targets, &tuner.start());
        Ok(Self { plan, variant, engine, search_digest, weights_digest, openings, endgames, targets, tuner })
    }

    /// The openings in the order that a seed makes.
    ///
    /// # Errors
    /// A file of openings is not there any more, or is another.
    pub fn openings(&self, seed: u64) -> Result<OpeningBook, OpeningError> {
        OpeningBook::open(&self.variant, &self.openings, seed)
    }

    /// What the run keeps of its plan.
    #[must_use]
    pub fn saved(&self) -> SavedPlan {
        SavedPlan {
            kind: KIND.into(),
            variant: self.variant.name().into(),
            rules_hash: self.variant.rules_hash().into(),
            search: self.search_digest.clone(),
            weights: self.weights_digest.clone(),
            plan: self.plan.clone(),
        }
    }
}

/// Looks all names up and fills in all numbers; faults are noted, and then some are missing.
fn resolve(
    parameters: &mut [Parameter],
    variant: &Variant,
    base: &Engine,
    faults: &mut Faults,
) -> Vec<(Target, Setting)> {
    faults.require(!parameters.is_empty(), "parameters", "at least one [[parameters]] table", "none");
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for parameter in parameters {
        let name = parameter.name.clone();
        faults.require(seen.insert(name.clone()), "parameters", "every name once", format_args!("{name:?} again"));
        match Target::find(variant, &name) {
            Err(error) => faults.note(format_args!("parameters: {error}")),
            Ok(target) => {
                let setting = fill_in(parameter, target, base.get(target));
                check_setting(&name, &setting, target, faults);
                found.push((target, setting));
            }
        }
    }
    found
}

/// The parameter's numbers, with defaults for those left out, which are written into it.
fn fill_in(parameter: &mut Parameter, target: Target, current: i32) -> Setting {
    let start = *parameter.start.get_or_insert(f64::from(current));
    let Span { min, max, step } = target.usual(start.round() as i32);
    Setting {
        start,
        min: *parameter.min.get_or_insert(f64::from(min)),
        max: *parameter.max.get_or_insert(f64::from(max)),
        c_end: *parameter.c_end.get_or_insert(f64::from(step)),
        r_end: *parameter.r_end.get_or_insert(USUAL_R_END),
        kind: Kind::Whole,
    }
}

fn check_setting(name: &str, setting: &Setting, target: Target, faults: &mut Faults) {
    let Setting { start, min, max, c_end, r_end, .. } = *setting;
    let Span { min: least, max: most, .. } = target.playable();
    let possible = f64::from(least)..=f64::from(most);
    let key = |part: &str| format!("{name}.{part}");
    for (part, bound) in [("min", min), ("max", max)] {
        let fits = bound.fract() == 0.0 && possible.contains(&bound);
        faults.require(fits, &key(part), format_args!("a whole number from {least} to {most}"), bound);
    }
    faults.require(min < max, &key("min"), format_args!("less than max, {max}"), min);
    faults.require((min..=max).contains(&start), &key("start"), format_args!("{min} to {max}"), start);
    let width = max - min;
    let fits = c_end > 0.0 && c_end <= width;
    faults.require(fits, &key("c_end"), format_args!("more than 0, at most max - min, {width}"), c_end);
    faults.require(r_end > 0.0 && r_end <= 1.0, &key("r_end"), "more than 0, at most 1", r_end);
}

fn check_numbers(plan: &Plan, faults: &mut Faults) {
    faults.require(plan.format == FORMAT, "format", FORMAT, plan.format);
    let counts: [(&str, u64, RangeInclusive<u64>); 4] = [
        ("iterations", plan.iterations, 1..=MOST_ITERATIONS),
        ("pairs_per_iteration", plan.pairs_per_iteration, 1..=MOST_PAIRS),
        ("nodes", plan.nodes, 1..=MOST_NODES),
        ("table_mebibytes", plan.table_mebibytes as u64, 1..=MOST_TABLE_MEBIBYTES as u64),
    ];
    for (key, got, range) in counts {
        faults.require(range.contains(&got), key, format_args!("{} to {}", range.start(), range.end()), got);
    }
    for (key, got) in [("alpha", plan.alpha), ("gamma", plan.gamma), ("a_ratio", plan.a_ratio)] {
        faults.require((0.0..=1.0).contains(&got), key, "0 to 1", got);
    }
    let openings = match &plan.openings {
        OpeningSource::Random(openings) => check_openings(openings),
        OpeningSource::File(_) => Ok(()),
    };
    let checks = [openings, check_adjudication(&plan.adjudication)];
    checks.into_iter().filter_map(Result::err).for_each(|error| faults.note(error));
    if let Some(Confirm { max_pairs, .. }) = plan.confirm {
        let range = 1..=MOST_ITERATIONS;
        faults.require(
            range.contains(&max_pairs),
            "confirm.max_pairs",
            format_args!("1 to {MOST_ITERATIONS}"),
            max_pairs,
        );
    }
    if let Some(Err(error)) = plan.confirm.map(|confirm| Sprt::new(confirm.sprt())) {
        faults.note(format_args!("confirm: {error}"));
    }
}

/// The files that a plan names, as seen from beside it or from where the program runs.
struct Files<'a> {
    folder_of: &'a Path,
}

impl Files<'_> {
    fn find(&self, name: &str) -> PathBuf {
        let beside = self.folder_of.with_file_name(name);
        if beside.is_file() { beside } else { PathBuf::from(name) }
    }

    fn read(&self, key: &str, name: &str) -> Result<String, String> {
        let path = self.find(name);
        std::fs::read_to_string(&path).map_err(|error| format!("{key}: cannot read {}: {error}", path.display()))
    }

    fn variant(&self, name: &str) -> Result<Variant, String> {
        let path = self.find(name);
        let named = if name.ends_with(".toml") { path.to_string_lossy() } else { name.into() };
        Variant::load(&named).map_err(|error| format!("variant: {error}"))
    }

    fn params(&self, name: Option<&str>) -> Result<(Params, String), String> {
        let Some(name) = name else { return Ok((Params::default(), "defaults".into())) };
        let text = self.read("search", name)?;
        let params = Params::read(&text).map_err(in_file("search", name))?;
        Ok((params, text_digest(&text)))
    }

    /// The openings with the file named as seen from here.
    fn placed(&self, openings: &OpeningSource) -> OpeningSource {
        match openings {
            OpeningSource::Random(_) => openings.clone(),
            OpeningSource::File(file) => {
                OpeningSource::File(OpeningFile { path: self.find(&file.path.to_string_lossy()), ..file.clone() })
            }
        }
    }

    fn weights(&self, variant: &Variant, name: Option<&str>) -> Result<(Weights, String), String> {
        let name = name.unwrap_or_else(|| named_weights::usual(variant));
        let path = if named_weights::is_word(Path::new(name)) { PathBuf::from(name) } else { self.find(name) };
        let NamedWeights { weights, digest, .. } =
            named_weights::load(variant, &path).map_err(|error| format!("weights: {error}"))?;
        Ok((weights, digest))
    }
}

/// A plan is saved with its files named as in it, and with what they were.
fn note_digest(named: &mut OpeningSource, found: &OpeningSource) {
    if let (OpeningSource::File(named), OpeningSource::File(found)) = (named, found) {
        named.digest.clone_from(&found.digest);
    }
}

fn in_file<E: Display>(key: &str, name: &str) -> impl Fn(E) -> String {
    move |error| format!("{key}: {name}: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairyforge_engine::endgame;

    const SHORT: &str = "format = 1\nvariant = \"chess\"\nseed = 1\niterations = 10\nweights = \"a-priori\"\n";

    fn setup(more: &str) -> Result<Setup, Faults> {
        Plan::read(&format!("{SHORT}{more}")).and_then(|plan| Setup::new(plan, Path::new("plan.toml")))
    }

    #[test]
    fn defaults_come_from_table_and_weights() {
        let setup = setup("[[parameters]]\nname = \"late_move_base\"\n[[parameters]]\nname = \"weights.tempo\"\nstart = 3.5\nc_end = 2\n").unwrap();
        let [search, tempo] = setup.tuner.settings() else { panic!() };
        let row = Params::row("late_move_base").unwrap();
        let numbers = [row.default, row.min, row.max, row.step].map(f64::from);
        assert_eq!([search.start, search.min, search.max, search.c_end], numbers);
        assert_eq!((search.r_end, tempo.start, tempo.min, tempo.max, tempo.c_end), (0.002, 3.5, -36.0, 44.0, 2.0));
        assert_eq!(setup.engine.weights.tempo, 4, "the old player has the start, rounded");
        let saved = setup.saved();
        let read = SavedPlan::read(&toml::to_string(&saved).unwrap()).unwrap();
        assert_eq!(read, saved);
        assert_eq!(read.tuner().unwrap().settings(), setup.tuner.settings());
        assert!(SavedPlan::read("kind = \"match\"").unwrap_err().to_string().contains("match"));
    }

    #[test]
    fn all_faults_are_told_together() {
        let text = "format = 2\nvariant = \"chess\"\nseed = 1\niterations = 0\nweights = \"none.toml\"\nsearch = \"lost.toml\"\ngamma = -1\n[adjudication]\nmost_plies = 0\n[confirm]\nelo0 = 5\nelo1 = 0\nmax_pairs = 0\n";
        let Faults(faults) = Setup::new(Plan::read(text).unwrap(), Path::new("plan.toml")).unwrap_err();
        for key in [
            "format",
            "iterations",
            "gamma",
            "adjudication.most_plies",
            "confirm.max_pairs",
            "confirm: expected elo0 below",
            "search: cannot read lost.toml",
            "weights: none.toml",
        ] {
            assert!(faults.iter().any(|fault| fault.starts_with(key)), "{key}: {faults:#?}");
        }
        assert_eq!(faults.len(), 8, "{faults:#?}");
        let Faults(faults) = setup(
            "[[parameters]]\nname = \"late_mov_base\"\n[[parameters]]\nname = \"delta_margin\"\nmin = 2.5\nmax = 9999\n[[parameters]]\nname = \"delta_margin\"\nstart = 700\nc_end = 0\nr_end = nan\n[[parameters]]\nname = \"weights.pawn.phase\"\nmin = 5\nmax = 2\n",
        )
        .unwrap_err();
        for (part, count) in [
            ("late_move_base", 1),
            ("delta_margin.min", 1),
            ("delta_margin.max", 1),
            ("again", 1),
            ("delta_margin.start", 1),
            ("delta_margin.c_end", 1),
            ("delta_margin.r_end", 1),
            ("weights.pawn.phase.min", 1),
        ] {
            assert_eq!(faults.iter().filter(|fault| fault.contains(part)).count(), count, "{part}: {faults:#?}");
        }
        assert!(setup("").unwrap_err().to_string().contains("at least one [[parameters]]"));
    }

    #[test]
    fn endgame_tables_lie_beside_the_plan_and_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tables")).unwrap();
        let text = format!("{SHORT}[[parameters]]\nname = \"late_move_base\"\n[adjudication]\nendgames = \"tables\"\n");
        let setup = |text: &str| Setup::new(Plan::read(text).unwrap(), &folder.path().join("plan.toml"));
        assert!(setup(&text).unwrap_err().to_string().contains("endgames: expected tables of chess"));
        let chess = Arc::new(Variant::load("chess").unwrap());
        let plan = endgame::Plan::of(&chess, &endgame::Material::parse(&chess, "K v K").unwrap()).unwrap();
        let work = endgame::Work { threads: 1, stop: &false.into(), report: &|_| () };
        let table = endgame::solve(&chess, &plan.tables[0], &Tables::new(), &work).unwrap();
        let mut file = std::fs::File::create(folder.path().join("tables/KvK.table")).unwrap();
        endgame::file::write(&table, &mut file).unwrap();
        let ready = setup(&text).unwrap();
        assert_eq!(ready.endgames.as_ref().map(|tables| tables.len()), Some(1));
        let noted = &ready.saved().plan.adjudication;
        assert_eq!(noted.endgames.as_deref(), Some(Path::new("tables")));
        assert_eq!(noted.endgames_digest.as_ref().map(String::len), Some(64));
        let others = format!("{text}endgames_digest = \"00\"\n");
        assert!(setup(&others).unwrap_err().to_string().contains("expected the tables of digest 00"));
    }

    #[test]
    fn files_lie_beside_the_plan() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.toml"), "format = 1\n[search]\nlate_move_base = 12\n").unwrap();
        let text = format!("{SHORT}search = \"mine.toml\"\n[[parameters]]\nname = \"late_move_base\"\n");
        let setup = Setup::new(Plan::read(&text).unwrap(), &folder.path().join("plan.toml")).unwrap();
        assert_eq!(setup.tuner.start(), [12.0]);
        assert_ne!(setup.search_digest, "defaults");
        std::fs::write(folder.path().join("mine.toml"), "format = 1\n[search]\nlate_mov_base = 12\n").unwrap();
        let error = Setup::new(Plan::read(&text).unwrap(), &folder.path().join("plan.toml")).unwrap_err().to_string();
        assert!(error.contains("mine.toml") && error.contains("late_move_base"), "{error}");
    }
}
