//! The rules around the units' moves as English sentences: board, check, en passant, promotion, castling, drops, end.
//!
//! One function a rule; a new rule gets its sentence by another. Structs are taken apart without `..`, so that a field added to the
//! rules cannot be forgotten here.

use super::words::{file_name, list, name, number, side, with_article, zone};
use crate::geometry::{Square, Topology};
use crate::variant::rules::{
    BareKing, CheckRule, DropRules, EndRules, PromotionChoice, PromotionRules, SideResult, Unit, UnitRules,
};
use crate::variant::{CastlingWing, Variant};

/// Rules that belong together.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Section {
    /// What they are about: `Promotion`.
    pub title: &'static str,
    /// The rules, one sentence or a few each.
    pub sentences: Vec<String>,
}

/// All rules but how the units move, in the order in which one explains them. Sections of rules that the game does not have are
/// left out.
pub(super) fn sections(variant: &Variant) -> Vec<Section> {
    let sections = [
        ("Board", board(variant)),
        ("Moving and check", moving(variant)),
        ("En passant", en_passant(variant)),
        ("Promotion", promotion(variant)),
        ("Castling", castling(variant)),
        ("Drops", drops(variant)),
        ("End of the game", end(variant)),
    ];
    let said = sections.into_iter().filter(|(_, sentences)| !sentences.is_empty());
    said.map(|(title, sentences)| Section { title, sentences }).collect()
}

fn board(variant: &Variant) -> Vec<String> {
    let topology = variant.topology();
    let (first, last) = (topology.first_rank(), u16::from(topology.first_rank()) + u16::from(topology.height()) - 1);
    let mut sentences = vec![format!(
        "The board has {} files (a to {}) and {} ranks ({first} to {last}): {} squares.",
        topology.width(),
        file_name(topology.width() - 1),
        topology.height(),
        topology.squares().len()
    )];
    let holes = holes(topology);
    if !holes.is_empty() {
        sentences.push(format!("There are no squares {}.", list(&holes, "and")));
    }
    let seen = if topology.is_turned() {
        "turned by half a turn: files and ranks are counted from the other end"
    } else {
        "mirrored: the same files, the ranks counted from the other end"
    };
    sentences.push(format!(
        "White moves first, then the sides take turns. Everything is said from White's side; for Black the board is {seen}."
    ));
    sentences
}

/// The squares of the rectangle that do not exist, run together rank by rank.
fn holes(topology: &Topology) -> Vec<String> {
    let mut holes = Vec::new();
    for row in 0..topology.height() {
        let missing = |file: &u8| Square::at(*file, row).is_some_and(|square| !topology.has(square));
        let files: Vec<u8> = (0..topology.width()).filter(missing).collect();
        for run in files.chunk_by(|a, b| a + 1 == *b) {
            let named = |file: &u8| Square::at(*file, row).map(|square| topology.name(square)).unwrap_or_default();
            match run {
                [first, _, .., last] => holes.push(format!("{} to {}", named(first), named(last))),
                few => holes.extend(few.iter().map(named)),
            }
        }
    }
    holes
}

fn moving(variant: &Variant) -> Vec<String> {
    let mut sentences = vec![
        "A man never ends its move on a square that a man of its own side occupies. Unless something else is said, it takes an enemy \
         man by ending its move on that man's square; nothing is taken on the way."
            .into(),
    ];
    let untakeable = names_where(variant, |unit| unit.untakeable);
    if !untakeable.is_empty() {
        sentences.push(format!("The {} may never be taken.", list(&untakeable, "and the")));
    }
    sentences.push(check(variant));
    sentences
}

fn check(variant: &Variant) -> String {
    let royal = royal_name(variant);
    let mate = "a side that is in check and has no legal move is checkmated and loses.";
    let several = match (variant.has_several_royals(), variant.rules().end.check) {
        (false, _) => {
            return format!(
                "The {royal} is royal: a side whose {royal} is attacked is in check. No move may leave or put the mover's own \
                 {royal} under attack; {mate}"
            );
        }
        (true, CheckRule::AnyRoyal) => format!("is in check while any {royal} of its own is attacked"),
        (true, CheckRule::EveryRoyal) => {
            format!(
                "is in check while every {royal} of its own is attacked: one may be taken so long as another is left"
            )
        }
    };
    format!(
        "The {royal} is royal, and a side may have several. A side {several}. No move may leave the mover's own side in check; {mate}"
    )
}

fn en_passant(variant: &Variant) -> Vec<String> {
    let taken = names_where(variant, |unit| unit.taken_en_passant);
    let takers = names_where(variant, |unit| unit.takes_en_passant);
    if taken.is_empty() || takers.is_empty() {
        return Vec::new();
    }
    let (straight, diagonal): (Vec<_>, Vec<_>) =
        variant.passing_directions().iter().copied().partition(|&(files, _)| files == 0);
    let ahead = match (straight.is_empty(), diagonal.is_empty()) {
        (_, true) => "straight ahead",
        (true, false) => "diagonally ahead",
        (false, false) => "straight or diagonally ahead",
    };
    vec![format!(
        "When {} has moved {ahead} by two squares or more, without capturing or promoting, an enemy {} may with the very next move \
         take it on any empty square that it passed over, as if it had stopped there: by a move with which the taker may capture.",
        with_article(&list(&taken, "or")),
        list(&takers, "or")
    )]
}

fn promotion(variant: &Variant) -> Vec<String> {
    let rules = &variant.rules().promotion;
    let mut sentences: Vec<String> = rules.iter().flat_map(|rule| promotion_rule(variant, rule)).collect();
    let overlap = |a: &PromotionRules, b: &PromotionRules| {
        a.who.iter().any(|unit| b.who.contains(unit)) && !(a.zone & b.zone).is_empty()
    };
    if rules.iter().enumerate().any(|(index, rule)| rules[..index].iter().any(|earlier| overlap(earlier, rule))) {
        sentences.push("Of several of these rules that fit, the first counts.".into());
    }
    sentences
}

fn promotion_rule(variant: &Variant, rule: &PromotionRules) -> Vec<String> {
    let PromotionRules { who, zone: squares, must, to } = rule;
    let who: Vec<String> = who.iter().map(|&unit| name(variant, unit)).collect();
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for choice in to {
        let (unit, conditions) = (name(variant, choice.unit), choice_conditions(choice));
        match groups.iter_mut().find(|(_, known)| *known == conditions) {
            Some((units, _)) => units.push(unit),
            None => groups.push((vec![unit], conditions)),
        }
    }
    let always_possible = groups.iter().any(|(_, conditions)| conditions.is_empty());
    let choices = groups.iter().map(|(units, conditions)| {
        let units = with_article(&list(units, "or"));
        if conditions.is_empty() { units } else { format!("{units} (only {})", list(conditions, "and only")) }
    });
    let mut sentences = vec![format!(
        "{} that ends a move on {} {} promote: it becomes {}.",
        capital(&with_article(&list(&who, "or"))),
        zone(variant.topology(), *squares),
        if *must { "must" } else { "may" },
        choices.collect::<Vec<_>>().join("; or ")
    )];
    if *must && !always_possible {
        sentences.push("Where none of these is possible it may not move there.".into());
    }
    sentences
}

fn choice_conditions(choice: &PromotionChoice) -> Vec<String> {
    let PromotionChoice { unit: _, only_captured, at_most, one_per_colour, after_drop } = choice;
    let at_most = at_most.map(|most| match most {
        1 => "while its side has none of them on the board".to_string(),
        most => format!("while its side has fewer than {} of them on the board", number(most.into())),
    });
    let conditions = [
        (*only_captured, "while its side has fewer of them on the board than in the array"),
        (*one_per_colour, "if none of its side's stands on a square of the promotion square's colour"),
        (*after_drop, "once its side has dropped one from its hand"),
    ];
    let others = conditions.into_iter().filter(|(applies, _)| *applies).map(|(_, words)| words.into());
    at_most.into_iter().chain(others).collect()
}

fn castling(variant: &Variant) -> Vec<String> {
    let mut sentences: Vec<String> = variant.castling().iter().map(|wing| castling_wing(variant, wing)).collect();
    if !sentences.is_empty() {
        let royal = royal_name(variant);
        let safe = if variant.has_several_royals() {
            format!("its side is not in check and the {royal} that castles is not attacked")
        } else {
            format!("the {royal} is not in check")
        };
        sentences.push(format!(
            "A castling needs that neither of the two has moved; that every square which one of them crosses or lands on is empty \
             but for the two; that {safe}; and that no square which the {royal} crosses or lands on is attacked. \
             Its partner may cross attacked squares."
        ));
    }
    sentences
}

fn castling_wing(variant: &Variant, wing: &CastlingWing) -> String {
    let topology = variant.topology();
    let (royal, partner) = (royal_name(variant), name(variant, wing.partner_unit));
    let ends: Vec<String> = wing
        .destinations
        .iter()
        .map(|end| format!("{} (the {partner} to {})", topology.name(end.king_to), topology.name(end.partner_to)))
        .collect();
    format!(
        "{}'s {royal} on {} castles with the {partner} on {} by going to {}.",
        side(wing.colour),
        topology.name(wing.king),
        topology.name(wing.partner),
        list(&ends, "or")
    )
}

fn drops(variant: &Variant) -> Vec<String> {
    let Some(DropRules { hand, zone: squares }) = &variant.rules().drops else { return Vec::new() };
    let topology = variant.topology();
    let held: Vec<String> = hand.iter().map(|&(unit, count)| format!("{count} × {}", name(variant, unit))).collect();
    let black = topology.flip_set(*squares);
    let where_to = if *squares == topology.squares() {
        "on any empty square".into()
    } else {
        format!("White on an empty square of {}, Black on one of {}", zone(topology, *squares), zone(topology, black))
    };
    vec![
        format!("Each side begins with men in hand: {}.", list(&held, "and")),
        format!(
            "Instead of moving, a side may drop a man from its hand: {where_to}. A drop may end a check or give one, or mate. Men \
             that are taken never come to hand."
        ),
    ]
}

fn end(variant: &Variant) -> Vec<String> {
    let EndRules { check: _, stalemate, stalemate_by_bare_king, bare_king, bare_kings_draw, repetition, move_count } =
        &variant.rules().end;
    let mut sentences = vec![stalemate_words(*stalemate)];
    let royal = royal_name(variant);
    if stalemate_by_bare_king != stalemate {
        sentences.push(format!(
            "If the other side has nothing but its {royal}, it {} instead.",
            result_words(*stalemate_by_bare_king)
        ));
    }
    sentences.extend(bare_king_words(*bare_king, &royal));
    if *bare_kings_draw {
        sentences.push(format!("When both sides have nothing but the {royal}, the game is a draw at once."));
    }
    if let Some(times) = repetition {
        sentences.push(format!(
            "A position that occurs for the {} time, with the same side to move and the same rights, is a draw.",
            ordinal(*times)
        ));
    }
    if let Some(plies) = move_count {
        sentences.push(move_count_words(variant, *plies));
    }
    sentences
}

fn stalemate_words(stalemate: SideResult) -> String {
    format!("Stalemate: a side that is not in check and has no legal move {}.", result_words(stalemate))
}

const fn result_words(result: SideResult) -> &'static str {
    match result {
        SideResult::Win => "wins",
        SideResult::Draw => "draws",
        SideResult::Loss => "loses",
    }
}

fn bare_king_words(rule: BareKing, royal: &str) -> Option<String> {
    let bared = format!("A side left with nothing but its {royal}, on the board and in hand, loses");
    match rule {
        BareKing::PlaysOn => None,
        BareKing::Loses => Some(format!("{bared}, unless the other side is as bare.")),
        BareKing::LosesUnlessBaringBack => Some(format!(
            "{bared}, unless with its very next move it takes the last man that the other side has besides its {royal}."
        )),
    }
}

fn move_count_words(variant: &Variant, plies: u16) -> String {
    let moves = if plies.is_multiple_of(2) { format!(" ({} moves a side)", plies / 2) } else { String::new() };
    let resetting = names_where(variant, |unit| unit.resets_move_count);
    let or_pawn = match resetting.as_slice() {
        [] => String::new(),
        units => {
            let held = variant.units().any(|unit| variant.unit(unit).resets_move_count && variant.hand_size(unit) > 0);
            let or_drop = if held { " or drop" } else { "" };
            format!(" and without a move{or_drop} of {}", with_article(&list(units, "or")))
        }
    };
    format!("{plies} plies{moves} without a capture{or_pawn} make a draw; a checkmate by the last of them still wins.")
}

fn ordinal(number: u8) -> String {
    match number {
        2 => "second".into(),
        3 => "third".into(),
        4 => "fourth".into(),
        5 => "fifth".into(),
        number => {
            let ending = match (number % 10, number % 100) {
                (1, rest) if rest != 11 => "st",
                (2, rest) if rest != 12 => "nd",
                (3, rest) if rest != 13 => "rd",
                _ => "th",
            };
            format!("{number}{ending}")
        }
    }
}

/// What is special about one unit beside how it moves.
pub(super) fn unit_notes(variant: &Variant, unit: Unit) -> Vec<String> {
    let UnitRules {
        name: _,
        letter: _,
        patterns: _,
        royal,
        untakeable,
        takes_en_passant,
        taken_en_passant,
        resets_move_count,
    } = variant.unit(unit);
    let castles = |wing: &CastlingWing| *royal || wing.partner_unit == unit;
    let promotes = variant.rules().promotion.iter().any(|rule| rule.who.contains(&unit));
    let en_passant = match (takes_en_passant, taken_en_passant) {
        (true, true) => Some("takes and is taken en passant"),
        (true, false) => Some("takes en passant"),
        (false, true) => Some("is taken en passant"),
        (false, false) => None,
    };
    let mut notes: Vec<&str> = Vec::new();
    notes.extend(royal.then_some("royal"));
    notes.extend(untakeable.then_some("may not be taken"));
    notes.extend(variant.castling().iter().any(castles).then_some("castles"));
    notes.extend(promotes.then_some("promotes"));
    notes.extend(en_passant);
    notes.extend(resets_move_count.then_some("its moves set the move count back"));
    notes.into_iter().map(Into::into).collect()
}

fn royal_name(variant: &Variant) -> String {
    let royals: Vec<String> =
        variant.units().filter(|&unit| variant.unit(unit).royal).map(|unit| name(variant, unit)).collect();
    list(&royals, "or")
}

fn names_where(variant: &Variant, holds: impl Fn(&UnitRules) -> bool) -> Vec<String> {
    variant.units().filter(|&unit| holds(variant.unit(unit))).map(|unit| name(variant, unit)).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
