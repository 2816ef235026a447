//! Whether a written suite is what it says: positions from which games can begin, values in the window, no opening twice, families even
//! and numbered through, and searches that come out the same again.
//!
//! Nothing is taken from the run in which it was made: the file's own header says what it promises.

use super::super::verify::{Again, Sample};
use super::conditions::{unfit_position, unfit_score};
use super::examine::second_searcher;
use super::plan::GameSettings;
use super::text::{Read, Written};
use crate::selfplay::seeds::Dice;
use fairyforge_engine::book::BookKey;
use fairyforge_engine::evaluate::Judge;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

/// What was found out about a suite.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Openings of each family.
    pub families: BTreeMap<String, usize>,
    /// Openings with White to move, and with Black.
    pub to_move: [usize; 2],
    /// Least and greatest value for White; `None` without openings.
    pub values: Option<(i16, i16)>,
    /// What is wrong, in words.
    pub faults: Vec<String>,
}

/// Looks at a suite without searching.
pub fn check(suite: &Written) -> Checked {
    let mut checked = Checked::default();
    let mut first_lines: HashMap<BookKey, usize> = HashMap::new();
    for opening in &suite.openings {
        checked
            .faults
            .extend(faults(suite, opening).into_iter().map(|fault| format!("line {}: {fault}", opening.line)));
        if let Some(before) = first_lines.insert(BookKey::of(&opening.position), opening.line) {
            checked.faults.push(format!("line {}: the position is that of line {before}", opening.line));
        }
        let number = checked.families.entry(opening.family.clone()).or_default();
        *number += 1;
        if opening.number != *number {
            let Read { line, family, number: got, .. } = opening;
            checked.faults.push(format!("line {line}: expected {family}/{number}, got {family}/{got}"));
        }
        checked.to_move[opening.position.side_to_move().index()] += 1;
        let (least, greatest) = checked.values.unwrap_or((opening.score, opening.score));
        checked.values = Some((least.min(opening.score), greatest.max(opening.score)));
    }
    let wanted = suite.header.plan.openings.count;
    if suite.openings.len() > wanted {
        checked.faults.push(format!("expected at most {wanted} openings, got {}", suite.openings.len()));
    }
    checked
}

/// What is wrong with one opening.
fn faults(suite: &Written, opening: &Read) -> Vec<String> {
    let plan = &suite.header.plan;
    let mut faults: Vec<String> = [unfit_position(plan, &opening.position), unfit_score(plan, opening.score)]
        .into_iter()
        .flatten()
        .map(|condition| condition.to_string())
        .collect();
    let plies = plan.openings.least_plies..=plan.openings.most_plies;
    if !plies.contains(&opening.plies) {
        faults.push(format!("expected {} to {} plies, got {}", plies.start(), plies.end(), opening.plies));
    }
    faults.extend(wrong_results(&plan.games, opening.results));
    faults
}

fn wrong_results(settings: &GameSettings, results: Option<[usize; 3]>) -> Option<String> {
    let [won, drawn, lost] = results.unwrap_or_default();
    let (expected, got) = (settings.count as usize, won + drawn + lost);
    if expected != got {
        return Some(format!("expected {expected} games, got {got}"));
    }
    let games = [(won, 1), (drawn, 0), (lost, -1)];
    let games: Vec<i8> = games.into_iter().flat_map(|(count, result)| std::iter::repeat_n(result, count)).collect();
    let is_contested = super::conditions::is_contested(settings, &games);
    (!is_contested).then(|| format!("decided in the games: {won} won, {drawn} drawn, {lost} lost"))
}

/// Searches a sample of the openings as they were searched, on rayon's current threads. `None`: stopped.
pub fn search_again(suite: &Written, judge: &Judge, sample: Sample, stop: &AtomicBool) -> Option<Again> {
    let drawn = drawn(suite.openings.len(), sample);
    let searcher = || second_searcher(&suite.header.plan, judge, stop);
    let looked = drawn.par_iter().map_init(searcher, |searcher, &index| {
        let opening = &suite.openings[index];
        searcher.look(&opening.position).map(|found| (opening, opening.for_white(found.score), found.nodes))
    });
    let looked: Vec<(&Read, i16, u64)> = looked.collect::<Option<Vec<_>>>()?;
    let mut again = Again { searches: looked.len(), ..Again::default() };
    for (opening, score, nodes) in looked {
        again.largest_difference = again.largest_difference.max(u32::from(opening.score.abs_diff(score)));
        if (opening.score, opening.nodes) != (score, nodes) {
            let Read { line, score: then, nodes: nodes_then, .. } = opening;
            again.faults.push(format!("line {line}: {then} by {nodes_then} nodes then, {score} by {nodes} now"));
        }
    }
    Some(again)
}

fn drawn(count: usize, sample: Sample) -> BTreeSet<usize> {
    let mut dice = Dice::new(sample.seed, 0);
    let mut all: Vec<usize> = (0..count).collect();
    let mut drawn = BTreeSet::new();
    for _ in 0..sample.count.min(count) {
        drawn.insert(all.swap_remove(dice.below(all.len())));
    }
    drawn
}
