//! Promotion, castling, drops and the end of the game.

use super::Check;
use crate::geometry::Square;
use crate::variant::file::{Draft, Entry, FaultKind, Node, Place, Table, Value};
use crate::variant::rules::{
    BareKing, CastlingRules, CastlingSide, CheckRule, Colour, DropRules, EndRules, PromotionChoice, PromotionRules,
    SideResult, Unit, UnitRules,
};

/// Most men of one kind that a limit on promotion may name: no board has more squares a side.
const MAX_ON_BOARD: u16 = 128;

/// Most men of one kind in a hand.
const MAX_IN_HAND: u16 = 99;

/// What check means for a side with several royal pieces.
const CHECK_RULES: [(&str, CheckRule); 2] =
    [("any royal is attacked", CheckRule::AnyRoyal), ("every royal is attacked", CheckRule::EveryRoyal)];

impl<'a> Check<'a> {
    /// Whether `[end]` says what check means with several royal pieces; a wrong word there is told later.
    pub(super) fn may_have_several_royals(&self, table: &Table) -> bool {
        let end = table.get("end").map(|entry| &entry.node.value);
        matches!(end, Some(Value::Table(end)) if end.get("in_check_if").is_some())
    }

    /// One table, or a list of tables.
    pub(super) fn promotion(&mut self, table: &'a Table, array: &[(Square, Unit, Colour)]) -> Vec<PromotionRules> {
        let Some(entry) = table.get("promotion") else { return Vec::new() };
        let nodes = match &entry.node.value {
            Value::List(list) => list.iter().collect(),
            _ => vec![&entry.node],
        };
        let mut rules = Vec::new();
        for node in nodes {
            let Some(table) = self.table("promotion", node) else { continue };
            rules.extend(self.one_promotion(entry, table, array));
        }
        rules
    }

    fn one_promotion(
        &mut self,
        section: &Entry,
        table: &Table,
        array: &[(Square, Unit, Colour)],
    ) -> Option<PromotionRules> {
        self.unknown_keys("promotion", "promotion", table);
        let must = self.boolean("promotion.must", table.get("must"), true);
        for (key, expected) in [("who", "a list of piece names"), ("zone", "a zone")] {
            if table.get(key).is_none() {
                self.missing(Some(section), &format!("promotion.{key}"), expected);
            }
        }
        let who = table.get("who").map(|entry| self.promoted("promotion.who", &entry.node, false)).unwrap_or_default();
        let zone = table.get("zone").and_then(|entry| self.zone("promotion.zone", &entry.node));
        let to = self.choices(section, table);
        let zone = zone?;
        if let (true, Some(topology)) = (must, self.topology.clone()) {
            let stuck = array.iter().find(|&&(square, unit, colour)| {
                let seen = if colour == Colour::White { square } else { topology.flip(square) };
                who.contains(&unit) && zone.contains(seen)
            });
            if let (Some(&(square, ..)), Some(entry)) = (stuck, table.get("zone")) {
                let expected = "a zone where nobody who must promote stands at the start";
                let got = format!("{}, which is taken", topology.name(square));
                self.faults.add(Draft::new(entry.node.place, FaultKind::Conflict, "promotion.zone", expected, got));
            }
        }
        let stays_stuck = to.iter().find(|choice| must && who.contains(&choice.unit));
        if let (Some(choice), Some(entry)) = (stays_stuck, table.get("to").or_else(|| table.get("always"))) {
            let (expected, got) =
                ("pieces that need not promote there themselves", &self.pieces[choice.unit.index()].key);
            self.faults.add(Draft::new(entry.node.place, FaultKind::Conflict, "promotion.to", expected, got.clone()));
        }
        Some(PromotionRules { who, zone, must, to })
    }

    /// A list of pieces that may be promoted, or promoted to: not empty, and without the royal one unless that is allowed.
    fn promoted(&mut self, path: &str, node: &Node, royal_too: bool) -> Vec<Unit> {
        let units = self.unit_list(path, node);
        if matches!(&node.value, Value::List(list) if list.is_empty()) {
            self.wrong_value(path, node, "at least one piece");
        }
        if !royal_too && units.iter().any(|&unit| Some(unit) == self.royal) {
            let draft =
                Draft::new(node.place, FaultKind::Conflict, path, "pieces that are not royal", "the royal piece");
            self.faults.add(draft);
        }
        units
    }

    fn choices(&mut self, section: &Entry, table: &Table) -> Vec<PromotionChoice> {
        let mut choices: Vec<PromotionChoice> = Vec::new();
        for key in ["to", "always", "to_captured"] {
            let Some(entry) = table.get(key) else { continue };
            let path = format!("promotion.{key}");
            for unit in self.promoted(&path, &entry.node, self.several_royals) {
                if choices.iter().any(|choice| choice.unit == unit) {
                    let got = format!("{} again", self.pieces[unit.index()].key);
                    let draft = Draft::new(entry.node.place, FaultKind::Duplicate, &*path, "each piece once", got);
                    self.faults.add(draft);
                    continue;
                }
                choices.push(PromotionChoice { only_captured: key == "to_captured", ..PromotionChoice::free(unit) });
            }
        }
        if let (Some(_), Some(entry)) = (table.get("to"), table.get("always")) {
            let got = "both to and always";
            let draft =
                Draft::new(entry.place, FaultKind::Conflict, "promotion.always", "one list of free choices", got);
            self.faults.add(draft.hint("always is to under the name that reads well beside to_captured"));
        }
        if ["to", "always", "to_captured"].iter().all(|key| table.get(key).is_none()) {
            self.missing(Some(section), "promotion.to", "a list of piece names (to, always, to_captured)");
        }
        self.at_most(table, &mut choices);
        self.bounded_royal(section, &choices);
        for key in ["one_per_colour", "after_drop"] {
            let Some(entry) = table.get(key) else { continue };
            let path = format!("promotion.{key}");
            for unit in self.unit_list(&path, &entry.node) {
                match choices.iter_mut().find(|choice| choice.unit == unit) {
                    Some(choice) if key == "after_drop" => choice.after_drop = true,
                    Some(choice) => choice.one_per_colour = true,
                    None => self.no_choice(&path, unit, entry.node.place),
                }
            }
        }
        choices
    }

    /// `at_most = { king = 2 }`: how many of a piece a side may have on the board after promoting.
    fn at_most(&mut self, table: &Table, choices: &mut [PromotionChoice]) {
        let Some(entry) = table.get("at_most") else { return };
        let Some(limits) = self.table("promotion.at_most", &entry.node) else { return };
        for Entry { key, place, node } in &limits.entries {
            let path = format!("promotion.at_most.{key}");
            let most = self.number(&path, node, 1, MAX_ON_BOARD);
            let Some(unit) = self.unit_named(&path, key, *place) else { continue };
            match choices.iter_mut().find(|choice| choice.unit == unit) {
                Some(choice) => choice.at_most = most.map(|most| most as u8),
                None => self.no_choice(&path, unit, *place),
            }
        }
    }

    /// The number of royal pieces must have a bound.
    fn bounded_royal(&mut self, section: &Entry, choices: &[PromotionChoice]) {
        // Where a side has one royal piece it may not be promoted to at all, which is told elsewhere.
        let unbounded = |choice: &&PromotionChoice| {
            self.several_royals && Some(choice.unit) == self.royal && choice.at_most.is_none()
        };
        let Some(choice) = choices.iter().find(unbounded) else { return };
        let name = &self.pieces[choice.unit.index()].key;
        let expected = format!("at_most = {{ {name} = 2 }} or another number, since it is royal");
        self.missing(Some(section), "promotion.at_most", &expected);
    }

    fn no_choice(&mut self, path: &str, unit: Unit, place: Place) {
        let expected = "pieces listed in to, always or to_captured";
        let got = self.pieces[unit.index()].key.clone();
        self.faults.add(Draft::new(place, FaultKind::Conflict, path, expected, got));
    }

    /// Castling, with the homes read off the array.
    pub(super) fn castling(&mut self, table: &'a Table, array: &[(Square, Unit, Colour)]) -> Option<CastlingRules> {
        let (section, castling) = self.section(table, "castling", false)?;
        self.unknown_keys("castling", "castling", castling);
        let partner = match castling.get("partner") {
            Some(entry) => self.unit("castling.partner", &entry.node),
            None => {
                self.missing(Some(section), "castling.partner", "the piece castled with");
                None
            }
        };
        let Some(entry) = castling.get("king_steps") else {
            self.missing(Some(section), "castling.king_steps", "{ to_higher_files = [2], to_lower_files = [2] }");
            return None;
        };
        let steps = self.table("castling.king_steps", &entry.node)?;
        self.unknown_keys("king_steps", "castling.king_steps", steps);
        if steps.entries.is_empty() {
            self.missing(Some(entry), "castling.king_steps", "to_higher_files, to_lower_files, or both");
        }
        let mut side = |key: &str, direction: i8| {
            let entry = steps.get(key)?;
            let path = format!("castling.king_steps.{key}");
            let steps = self.king_steps(&path, &entry.node)?;
            self.wing(&path, entry, array, partner?, (direction, steps))
        };
        let (higher, lower) = (side("to_higher_files", 1), side("to_lower_files", -1));
        Some(CastlingRules { partner: partner?, higher, lower })
    }

    fn king_steps(&mut self, path: &str, node: &Node) -> Option<Vec<u8>> {
        let list = self.list(path, node, "a list of numbers of steps")?;
        if list.is_empty() {
            self.wrong_value(path, node, "at least one number of steps");
        }
        let mut steps = Vec::new();
        for item in list {
            let Some(number) = self.number(path, item, 1, 15) else { continue };
            if steps.contains(&(number as u8)) {
                self.faults.add(Draft::new(
                    item.place,
                    FaultKind::Duplicate,
                    path,
                    "each number once",
                    item.describe(),
                ));
            }
            steps.push(number as u8);
        }
        steps.sort_unstable();
        Some(steps)
    }

    fn wing(
        &mut self,
        path: &str,
        entry: &Entry,
        array: &[(Square, Unit, Colour)],
        partner: Unit,
        (direction, steps): (i8, Vec<u8>),
    ) -> Option<CastlingSide> {
        let (royal, topology) = (self.royal?, self.topology.clone()?);
        // On a turned board what is to White's right is to Black's right too: the other way round on the board.
        let turned = topology.is_turned();
        let homes = |colour: Colour| {
            let direction = if turned && colour == Colour::Black { -direction } else { direction };
            let stands = |square: Square, unit: Unit| array.contains(&(square, unit, colour));
            let king = array.iter().find(|&&(_, unit, owner)| unit == royal && owner == colour)?.0;
            let mut square = king;
            loop {
                square = topology.step(square, direction, 0)?;
                if stands(square, partner) {
                    return Some((king, square));
                }
            }
        };
        let has_king = |colour| array.iter().any(|&(_, unit, owner)| unit == royal && owner == colour);
        if !Colour::BOTH.into_iter().all(has_king) {
            return None;
        }
        let mut conflict = |expected: String, got: String| {
            self.faults.add(Draft::new(entry.node.place, FaultKind::Conflict, path, expected, got));
        };
        let name = &self.pieces[partner.index()].key;
        let Some((king, home)) = homes(Colour::White) else {
            if self.array_known {
                conflict(format!("a {name} on that side of the king, no hole between"), "none".into());
            }
            return None;
        };
        let black_has_partners = array.iter().any(|&(_, unit, owner)| unit == partner && owner == Colour::Black);
        let black_home = Some((topology.flip(king), topology.flip(home)));
        if self.array_known && black_has_partners && homes(Colour::Black) != black_home {
            let squares = format!("{} and {}", topology.name(topology.flip(king)), topology.name(topology.flip(home)));
            conflict(format!("Black's king and {name} on {squares}, mirroring White's"), "others".into());
        }
        let distance = king.file().abs_diff(home.file());
        if let Some(far) = steps.iter().find(|&&steps| steps > distance) {
            conflict(format!("at most {distance} steps, to the {name}'s square"), far.to_string());
        }
        Some(CastlingSide { king, partner: home, steps })
    }

    /// Hands and the zone they are dropped in.
    pub(super) fn drops(&mut self, table: &'a Table) -> Option<DropRules> {
        let (section, drops) = self.section(table, "drops", false)?;
        self.unknown_keys("drops", "drops", drops);
        let mut hand = Vec::new();
        match drops.get("hand") {
            None => self.missing(Some(section), "drops.hand", "a table such as { pawn = 4 }"),
            Some(entry) => {
                let held = self.table("drops.hand", &entry.node).map_or(&[][..], |table| &table.entries);
                for Entry { key, place, node } in held {
                    let path = format!("drops.hand.{key}");
                    let count = self.number(&path, node, 1, MAX_IN_HAND);
                    let Some(unit) = self.unit_named(&path, key, *place) else { continue };
                    if Some(unit) == self.royal {
                        let expected = "pieces that are not royal";
                        self.faults.add(Draft::new(*place, FaultKind::Conflict, path, expected, "the royal piece"));
                    }
                    hand.extend(count.map(|count| (unit, count as u8)));
                }
                if matches!(&entry.node.value, Value::Table(table) if table.entries.is_empty()) {
                    self.wrong_value("drops.hand", &entry.node, "at least one piece");
                }
            }
        }
        let Some(zone) = drops.get("zone") else {
            self.missing(Some(section), "drops.zone", "a zone");
            return None;
        };
        Some(DropRules { hand, zone: self.zone("drops.zone", &zone.node)? })
    }

    /// What may be promoted to only once it has been dropped must be held in hand.
    pub(super) fn dropped_before(&mut self, table: &Table, promotion: &[PromotionRules], drops: Option<&DropRules>) {
        let held = |unit: Unit| drops.is_some_and(|drops| drops.hand.iter().any(|held| held.0 == unit));
        let choices = promotion.iter().flat_map(|rules| &rules.to);
        let Some(choice) = choices.filter(|choice| choice.after_drop).find(|choice| !held(choice.unit)) else { return };
        let place = table.get("promotion").map_or(self.root, |entry| entry.place);
        let (expected, got) = ("pieces that [drops] holds in hand", self.pieces[choice.unit.index()].key.clone());
        self.faults.add(Draft::new(place, FaultKind::Conflict, "promotion.after_drop", expected, got));
    }

    /// How the game ends; without keys as orthodox chess does.
    pub(super) fn end(&mut self, table: &'a Table, promotion: &[PromotionRules], units: &mut [UnitRules]) -> EndRules {
        let empty = Table::default();
        let end = match self.section(table, "end", false) {
            Some((_, end)) => end,
            None => &empty,
        };
        self.unknown_keys("end", "end", end);
        let check = self.word("end.in_check_if", end.get("in_check_if"), &CHECK_RULES).unwrap_or_default();
        let sides = [("draws", SideResult::Draw), ("loses", SideResult::Loss), ("wins", SideResult::Win)];
        let stalemate = self.word("end.stalemated_side", end.get("stalemated_side"), &sides);
        let stalemate = stalemate.unwrap_or(SideResult::Draw);
        let by_bare_king = self.word("end.stalemated_by_bare_king", end.get("stalemated_by_bare_king"), &sides);
        let bare = [
            ("plays on", BareKing::PlaysOn),
            ("loses", BareKing::Loses),
            ("loses unless it bares back", BareKing::LosesUnlessBaringBack),
        ];
        let bare_king = self.word("end.bare_king", end.get("bare_king"), &bare).unwrap_or(BareKing::PlaysOn);
        let resetting: Vec<Unit> = match end.get("move_count_reset_by") {
            Some(entry) => self.unit_list("end.move_count_reset_by", &entry.node),
            None => promotion.iter().flat_map(|rules| rules.who.iter().copied()).collect(),
        };
        for unit in resetting {
            units[unit.index()].resets_move_count = true;
        }
        EndRules {
            check,
            stalemate,
            stalemate_by_bare_king: by_bare_king.unwrap_or(stalemate),
            bare_king,
            bare_kings_draw: self.boolean("end.bare_kings_draw", end.get("bare_kings_draw"), false),
            repetition: self.limit("end.repetition", end.get("repetition"), (2, 255), 3).map(|times| times as u8),
            move_count: self.limit("end.move_count_plies", end.get("move_count_plies"), (1, u16::MAX), 100),
        }
    }

    /// A number, or `"never"`.
    fn limit(&mut self, path: &str, entry: Option<&Entry>, (least, greatest): (u16, u16), default: u16) -> Option<u16> {
        match entry.map(|entry| &entry.node) {
            None => Some(default),
            Some(Node { value: Value::Text(text, _), .. }) if text == "never" => None,
            Some(node @ Node { value: Value::Integer(_), .. }) => self.number(path, node, least, greatest),
            Some(node) => {
                self.wrong_type(path, node, &format!("a whole number from {least} to {greatest}, or \"never\""));
                None
            }
        }
    }
}
