//! An explanation written out for a terminal: rules, units with their drawings, tables of facts. At most 120 columns.

use super::words::side;
use super::{AttackDensity, Diagram, Explanation, Facts, Man, Section, Targets, UnitExplanation};
use crate::table::aligned;
use crate::variant::rules::Colour;
use std::fmt::{self, Display, Formatter};

/// Widest line of running text.
const COLUMNS: usize = 100;

impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.author.as_str() {
            "" => writeln!(f, "{}\n", self.title)?,
            author => writeln!(f, "{} by {author}\n", self.title)?,
        }
        let (board, rules) = self.rules.split_at(1.min(self.rules.len()));
        board.iter().try_for_each(|section| write_section(f, section))?;
        writeln!(f, "{}\n", indented(&self.array))?;
        rules.iter().try_for_each(|section| write_section(f, section))?;
        self.units.iter().try_for_each(|unit| write_unit(f, unit))?;
        write_facts(f, &self.facts)?;
        write!(f, "Start position {}\nrules hash {}", self.fen, self.rules_hash)
    }
}

fn write_section(f: &mut Formatter<'_>, section: &Section) -> fmt::Result {
    writeln!(f, "{}", section.title.to_uppercase())?;
    section.sentences.iter().try_for_each(|sentence| writeln!(f, "{}", wrapped("  ", "  ", sentence)))?;
    writeln!(f)
}

fn write_unit(f: &mut Formatter<'_>, unit: &UnitExplanation) -> fmt::Result {
    writeln!(f, "{} ({}){}", unit.name.to_uppercase(), unit.letter, how_many(unit))?;
    unit.moves.iter().try_for_each(|moves| writeln!(f, "{}", wrapped("  - ", "    ", moves)))?;
    if !unit.notes.is_empty() {
        writeln!(f, "{}", wrapped("  ", "  ", &format!("Also: {}.", unit.notes.join("; "))))?;
    }
    writeln!(f)?;
    unit.diagrams.iter().try_for_each(|diagram| write_diagram(f, diagram))
}

fn how_many(unit: &UnitExplanation) -> String {
    let array = match unit.in_array {
        [0, 0] => None,
        [white, black] if white == black => Some(format!("{white} a side")),
        [white, black] => Some(format!("White {white}, Black {black}")),
    };
    let hand = (unit.in_hand > 0).then(|| format!("{} in each hand", unit.in_hand));
    let parts: Vec<String> = array.into_iter().chain(hand).collect();
    if parts.is_empty() { ", none at the start".into() } else { format!(", {}", parts.join(", ")) }
}

fn write_diagram(f: &mut Formatter<'_>, diagram: &Diagram) -> fmt::Result {
    if let Some(from) = &diagram.from {
        writeln!(f, "  from {from}:\n")?;
    }
    writeln!(f, "{}\n", indented(&diagram.drawing))?;
    for legend in &diagram.legend {
        writeln!(f, "    {:<2} {}", legend.symbol, legend.meaning)?;
    }
    if diagram.cut_off {
        writeln!(f, "    It goes on beyond the edge of the drawing.")?;
    }
    writeln!(f)
}

fn write_facts(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    writeln!(f, "FACTS")?;
    writeln!(
        f,
        "  {} men of {} types in the array, {} of {} squares empty ({:.1} %)",
        facts.men,
        facts.types,
        facts.empty_squares,
        facts.squares,
        100.0 * facts.empty_share
    )?;
    if facts.types_in_all != facts.types {
        writeln!(f, "  {} types in the whole game", facts.types_in_all)?;
    }
    let pawns = if facts.pawns.is_empty() { "none".into() } else { facts.pawns.join(", ") };
    writeln!(f, "  Pawns, by the rules: {pawns}")?;
    facts.attack_density.iter().try_for_each(|density| write_density(f, density))?;
    let about =
        "Adjacent squares that the men other than pawns attack on an empty board, over the number of these men.";
    writeln!(f, "{}\n", wrapped("  ", "  ", about))?;
    write_mobility(f, facts)?;
    write_protection(f, facts)?;
    write_reach(f, facts)
}

fn write_density(f: &mut Formatter<'_>, density: &AttackDensity) -> fmt::Result {
    let AttackDensity { side, men, adjacent_attacks, density } = density;
    match density {
        Some(density) => writeln!(f, "  {side}'s attack density: {adjacent_attacks} / {men} = {density:.2}"),
        None => writeln!(f, "  {side} has pawns only: no attack density"),
    }
}

fn write_mobility(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    let boards = ["empty".to_string(), format!("{:.3}", facts.empty_share), super::BETZA_EMPTY.to_string()];
    let columns = boards.iter().flat_map(|board| [format!("{board}: moves"), "captures".into(), "mean".into()]);
    let mut rows = vec![std::iter::once("mobility".into()).chain(columns).collect::<Vec<String>>()];
    for unit in &facts.mobility {
        let numbers = [unit.empty_board, unit.array, unit.betza].into_iter().flat_map(three);
        rows.push(std::iter::once(unit.unit.clone()).chain(numbers).collect());
    }
    writeln!(f, "{}", indented(&aligned(&rows).lines().map(Into::into).collect::<Vec<_>>()))?;
    let about = "Squares reached, on average over the board, if each other square is empty with probability 1 (the empty board), as \
                 the share of empty squares in the array, and as on Betza's crowded board.";
    writeln!(f, "{}\n", wrapped("  ", "  ", about))
}

fn three(targets: Targets) -> [String; 3] {
    [targets.moves, targets.captures, targets.mean].map(|number| format!("{number:.3}"))
}

fn write_protection(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    let lists = [
        ("Protected by the king only", &facts.protection.by_king_only),
        ("Protected by nobody", &facts.protection.by_nobody),
    ];
    for (what, men) in lists {
        writeln!(f, "{}", wrapped("  ", "    ", &format!("{what} in the array: {}", men_words(men))))?;
    }
    writeln!(f)
}

fn men_words(men: &[Man]) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for man in men {
        let who = format!("{} {}", man.side, man.unit);
        match groups.iter_mut().find(|(known, _)| *known == who) {
            Some((_, squares)) => squares.push(&man.square),
            None => groups.push((who, vec![&man.square])),
        }
    }
    let groups: Vec<String> = groups.iter().map(|(who, squares)| format!("{who} {}", squares.join(" "))).collect();
    if groups.is_empty() { "no man".into() } else { groups.join(", ") }
}

fn write_reach(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    let heading = ["farthest rank", "from", "alone: 1 move", "2 moves", "in the array: 1 move", "2 moves"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    let both = facts.reach.iter().any(|reach| reach.side == side(Colour::Black));
    for reach in &facts.reach {
        let ranks = [
            reach.from_rank,
            reach.alone.one_move,
            reach.alone.two_moves,
            reach.in_array.one_move,
            reach.in_array.two_moves,
        ];
        let unit = if both { format!("{} {}", reach.side, reach.unit) } else { reach.unit.clone() };
        rows.push(std::iter::once(unit).chain(ranks.map(|rank| rank.to_string())).collect());
    }
    writeln!(f, "{}", indented(&aligned(&rows).lines().map(Into::into).collect::<Vec<_>>()))?;
    let whose = if both { "" } else { "White's units; Black's are like them. " };
    let about = format!(
        "{whose}Alone on the board, and in the array with nobody else moving (captures count, check does not)."
    );
    writeln!(f, "{}\n", wrapped("  ", "  ", &about))
}

fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("    {line}").trim_end().to_string()).collect::<Vec<_>>().join("\n")
}

/// Text in lines of at most [`COLUMNS`] characters; the first begins with `first`, the others with `next`.
fn wrapped(first: &str, next: &str, text: &str) -> String {
    let mut lines = vec![first.to_string()];
    let mut begun = false;
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if begun && line + 1 + word.chars().count() > COLUMNS {
            lines.push(next.to_string());
            begun = false;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if begun { " " } else { "" });
            line.push_str(word);
        }
        begun = true;
    }
    lines.join("\n")
}
