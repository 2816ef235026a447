//! Drawings: well-formed, complete, the same bytes every time, and no two units of a game look alike.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{play, position, random_position, read, shipped, variant, variant_from};
use fairyforge_engine::drawing::{BoardView, board, man, man_without_letter, text, unit_moves};
use fairyforge_engine::explain::Explanation;
use fairyforge_engine::game::Game;
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Units of the drawing along a square.
const CELL: i32 = 100;
/// The upper left corner of the board.
const LEFT: i32 = 64;
const TOP: i32 = 26;

/// An element of a document, in document order.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    /// The text directly inside, references resolved.
    text: String,
    parent: Option<usize>,
}

/// A document read by a foreign parser; it must be well-formed, with one root.
struct Document(Vec<Element>);

impl Document {
    fn read(svg: &str) -> Self {
        let mut reader = Reader::from_str(svg);
        let (mut elements, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
        loop {
            let event = reader.read_event().unwrap_or_else(|error| panic!("{error}\n{svg}"));
            match event {
                Event::Start(start) => {
                    elements.push(element(&start, open.last().copied()));
                    open.push(elements.len() - 1);
                }
                Event::Empty(start) => elements.push(element(&start, open.last().copied())),
                Event::End(_) => assert!(open.pop().is_some(), "{svg}"),
                Event::Text(text) => match open.last() {
                    Some(&index) => elements[index].text.push_str(&text.decode().unwrap()),
                    None => assert!(text.decode().unwrap().trim().is_empty(), "text outside of the root: {svg}"),
                },
                Event::GeneralRef(reference) => {
                    let name = reference.decode().unwrap();
                    let letter = reference.resolve_char_ref().unwrap().or_else(|| predefined(&name));
                    elements[*open.last().unwrap()].text.push(letter.unwrap_or_else(|| panic!("&{name}; in {svg}")));
                }
                Event::Eof => break,
                other => panic!("{other:?} in {svg}"),
            }
        }
        assert!(open.is_empty(), "{svg}");
        assert_eq!(elements.iter().filter(|element| element.parent.is_none()).count(), 1, "{svg}");
        Self(elements)
    }

    fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (usize, &'a Element)> {
        self.0.iter().enumerate().filter(move |(_, element)| element.name == name)
    }

    fn title(&self) -> &str {
        let title = self.named("title").find(|(_, element)| element.parent == Some(0));
        &title.unwrap().1.text
    }

    /// Title, reference and upper left corner of every man on the board.
    fn men(&self) -> Vec<(String, String, (i32, i32))> {
        let on_board = self.named("use").filter(|(_, element)| element.attributes.contains_key("x"));
        let man = |(_, shown): (usize, &Element)| {
            let title = self.named("title").find(|(_, title)| title.parent == shown.parent).unwrap().1.text.clone();
            let at = |key: &str| shown.attributes[key].parse().unwrap();
            (title, shown.attributes["href"].clone(), (at("x"), at("y")))
        };
        on_board.map(man).collect()
    }

    /// Titles of men in hand, with the counts written beside them.
    fn hands(&self) -> Vec<(String, String)> {
        let in_hand = self.named("title").filter(|(_, title)| title.text.contains(" in hand: "));
        let entry = |(_, title): (usize, &Element)| {
            let count = self.named("text").find(|(_, text)| text.parent == title.parent).unwrap().1.text.clone();
            (title.text.clone(), count)
        };
        in_hand.map(entry).collect()
    }

    /// Every reference leads to one definition.
    fn assert_references(&self) {
        let ids: Vec<&String> = self.0.iter().filter_map(|element| element.attributes.get("id")).collect();
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{ids:?}");
        for (_, shown) in self.named("use") {
            let id = shown.attributes["href"].strip_prefix('#').unwrap();
            assert!(ids.iter().any(|known| *known == id), "{id}");
        }
    }

    /// Upper left corners of the squares in the paths with this fill.
    fn squares(&self, fill: &str) -> BTreeSet<(i32, i32)> {
        let paths = self.named("path").filter(|(_, path)| path.attributes.get("fill").is_some_and(|of| of == fill));
        let corners = paths.flat_map(|(_, path)| path.attributes["d"].split('M').skip(1));
        corners
            .map(|square| {
                let (at, shape) = square.split_once('h').unwrap();
                assert_eq!(shape, "100v100h-100z");
                let (x, y) = at.split_once(' ').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            })
            .collect()
    }
}

fn element(start: &BytesStart<'_>, parent: Option<usize>) -> Element {
    // Read with checks: an attribute given twice is an error.
    let mut given = start.attributes();
    let attributes = given.with_checks(true).map(|attribute| {
        let attribute = attribute.unwrap();
        (String::from_utf8(attribute.key.0.to_vec()).unwrap(), attribute.unescape_value().unwrap().into_owned())
    });
    let name = String::from_utf8(start.name().0.to_vec()).unwrap();
    Element { name, attributes: attributes.collect(), text: String::new(), parent }
}

fn predefined(name: &str) -> Option<char> {
    let known = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')];
    known.into_iter().find(|(known, _)| *known == name).map(|(_, letter)| letter)
}

const LIGHT: &str = "#efe6d5";
const DARK: &str = "#c9b697";

fn from_black() -> BoardView {
    BoardView { below: Colour::Black, ..BoardView::default() }
}

#[test]
fn the_reader_of_these_tests_refuses_what_is_not_well_formed() {
    for broken in [
        "<a><b></a>",
        "<a>",
        "<a/><b/>",
        "<a>&nbsp;</a>",
        "<a b=\"1\" b=\"2\"/>",
        "<a b=\"&x;\"/>",
        "<a b=1/>",
        "<a/>text",
    ] {
        assert!(std::panic::catch_unwind(|| Document::read(broken)).is_err(), "{broken}");
    }
    assert_eq!(Document::read("<a b=\"&lt;\">&amp;c</a>").0[0].text, "&c");
}

/// A unit, its colour, and its drawing must be one and the same thing.
#[test]
fn no_two_men_of_a_game_look_alike() {
    for variant in shipped() {
        let mut seen = BTreeMap::new();
        for unit in variant.units() {
            for colour in Colour::BOTH {
                let drawn = man(&variant, unit, colour);
                assert!(drawn.contains(&format!(">{}</text>", variant.unit(unit).letter)), "{drawn}");
                let before = seen.insert(drawn, (unit, colour));
                assert_eq!(before, None, "{}: {unit:?} of {colour:?}", variant.name());
            }
        }
    }
}

/// Nearly all are told apart by their forms alone; these are not, because they go to the same squares near by.
const TOLD_BY_LETTERS: &[&str] =
    &["ols10: shaman war_elephant", "spartan: hoplite pawn", "wolf-published: pawn sergeant", "wolf: pawn sergeant"];

#[test]
fn forms_alone_tell_nearly_all_units_apart() {
    let mut alike = BTreeSet::new();
    for variant in shipped() {
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for unit in variant.units() {
            let name = variant.unit(unit).name.clone();
            if let Some(other) = seen.insert(man_without_letter(&variant, unit, Colour::White), name.clone()) {
                alike.insert(format!("{}: {other} {name}", variant.name()));
            }
        }
    }
    assert_eq!(alike.iter().map(String::as_str).collect::<Vec<_>>(), TOLD_BY_LETTERS);
}

/// What is said of every drawing of a position.
fn assert_shows(position: &Position, view: &BoardView) {
    let svg = board(position, view);
    assert_eq!(svg, board(&position.clone(), view), "the same bytes");
    let document = Document::read(&svg);
    document.assert_references();
    let topology = position.variant().topology();
    let (light, dark) = (document.squares(LIGHT), document.squares(DARK));
    assert!(light.is_disjoint(&dark));
    assert_eq!(light.len() + dark.len(), topology.squares().len() as usize, "holes are left out");
    let men = document.men();
    assert_eq!(men.len(), position.occupied().len() as usize);
    for (title, _, corner) in &men {
        assert!(light.contains(corner) || dark.contains(corner), "{title} stands on a square");
        let square = topology.parse(title.split(' ').next_back().unwrap()).unwrap();
        let piece = position.piece_at(square);
        assert!(title.starts_with(&format!("{:?} ", piece.colour())), "{title}");
        // Squares are where the view says: counted from the upper left one.
        let from_left = if view.below == Colour::White { square.file() } else { topology.width() - 1 - square.file() };
        let from_top = if view.below == Colour::White { topology.height() - 1 - square.row() } else { square.row() };
        assert_eq!(*corner, (LEFT + i32::from(from_left) * CELL, TOP + i32::from(from_top) * CELL), "{title}");
    }
    assert_eq!(men.iter().map(|man| man.2).collect::<BTreeSet<_>>().len(), men.len());
    let held: u32 = position
        .variant()
        .units()
        .flat_map(|unit| Colour::BOTH.map(|colour| u32::from(position.in_hand(unit, colour))))
        .sum();
    let shown = document.hands();
    let counted: u32 = shown.iter().map(|(_, count)| count.strip_prefix('×').unwrap().parse::<u32>().unwrap()).sum();
    assert_eq!(counted, held);
    let description = &document.named("desc").next().unwrap().1.text;
    assert!(description.ends_with(&format!("FEN: {}", position.fen())), "{description}");
    assert_eq!(document.named("desc").count(), 1);
    assert!(document.title().starts_with(&position.variant().rules().title), "{}", document.title());
}

#[test]
fn every_shipped_game_is_drawn_whole_from_either_side() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for variant in shipped() {
        for plies in [0, 30] {
            let position = random_position(&variant, plies, &mut random);
            assert_shows(&position, &BoardView::default());
            assert_shows(&position, &from_black());
        }
    }
}

/// Herculean men on the largest board that there is.
fn largest() -> Arc<Variant> {
    let (back, front) = ("r z c l s f w q k w f s l c z r", "n n n n n b b n n b b n n n n n");
    let (pawns, empty) = (["p"; 16].join(" "), ["."; 16].join(" "));
    let ranks: Vec<String> = [back, front, &pawns]
        .map(String::from)
        .into_iter()
        .chain(std::iter::repeat_n(empty, 10))
        .chain([&pawns, front, back].map(str::to_uppercase))
        .collect();
    variant_from(&format!(
        "format = 1\ninherits = \"herculean\"\ncastling = \"none\"\n[variant]\nname = \"Largest\"\n[board]\nsetup = \"\"\"\n{}\n\"\"\"\n\
         [zones]\nnear_half = \"ranks 1-8\"\nfar_half = \"ranks 9-16\"\nlast_rank = \"rank 16\"\n",
        ranks.join("\n")
    ))
}

#[test]
fn the_largest_board_is_drawn() {
    let position = Position::start(&largest());
    assert_eq!(position.occupied().len(), 96);
    assert_shows(&position, &BoardView::default());
    assert_shows(&position, &from_black());
}

#[test]
fn equal_games_are_drawn_alike_and_others_refer_to_other_men() {
    let fresh: Arc<Variant> = Variant::load("herculean").unwrap().into();
    let drawn = |variant: &Arc<Variant>| board(&Position::start(variant), &BoardView::default());
    assert_eq!(drawn(&fresh), drawn(&variant("herculean")));
    // Two drawings may stand on one page: what is called alike must be alike.
    let ids = |svg: &str| Document::read(svg).men().into_iter().map(|man| man.1).collect::<BTreeSet<_>>();
    assert!(ids(&drawn(&variant("chess"))).is_disjoint(&ids(&drawn(&fresh))));
    let turned = board(&Position::start(&fresh), &from_black());
    assert!(ids(&turned).is_disjoint(&ids(&drawn(&fresh))));
}

#[test]
fn a1_is_dark_wherever_ranks_begin() {
    for (game, square, is_dark) in [
        ("chess", "a1", true),
        ("chess", "h1", false),
        ("sorcerer", "a1", true),
        ("sorcerer", "f0", true),
        ("herculean", "l12", true),
        ("herculean", "a12", false),
    ] {
        let variant = variant(game);
        let svg = Document::read(&board(&Position::start(&variant), &BoardView::default()));
        let square = variant.topology().parse(square).unwrap();
        let (light, dark) = (svg.squares(LIGHT), svg.squares(DARK));
        let row = variant.topology().height() - 1 - square.row();
        let corner = (LEFT + i32::from(square.file()) * CELL, TOP + i32::from(row) * CELL);
        assert_eq!(dark.contains(&corner), is_dark, "{game} {square:?}");
        assert_eq!(light.contains(&corner), !is_dark, "{game} {square:?}");
    }
}

#[test]
fn files_and_ranks_are_named_as_the_game_names_them() {
    let names = |game: &str, view: &BoardView| {
        let svg = Document::read(&board(&Position::start(&variant(game)), view));
        let group = svg.named("g").find(|(_, group)| group.attributes.contains_key("font-size")).unwrap().0;
        let named = svg.named("text").filter(|(_, text)| text.parent == Some(group));
        named
            .map(|(_, text)| {
                (text.text.clone(), text.attributes["x"].parse().unwrap(), text.attributes["y"].parse().unwrap())
            })
            .collect::<Vec<(String, i32, i32)>>()
    };
    let sorcerer = names("sorcerer", &BoardView::default());
    let words: Vec<&str> = sorcerer.iter().map(|name| name.0.as_str()).collect();
    assert_eq!(words[..10].concat(), "abcdefghij");
    assert_eq!(words[10..].join(" "), "0 1 2 3 4 5 6 7 8 9 10 11");
    let herculean = names("herculean", &BoardView::default());
    let turned = names("herculean", &from_black());
    let at = |names: &[(String, i32, i32)], name: &str| {
        names.iter().find(|known| known.0 == name).map(|known| (known.1, known.2)).unwrap()
    };
    assert!(at(&herculean, "a").0 < at(&herculean, "l").0 && at(&herculean, "12").1 < at(&herculean, "1").1);
    assert_eq!((at(&turned, "a"), at(&turned, "1").1), (at(&herculean, "l"), at(&herculean, "12").1));
}

#[test]
fn hands_are_shown_and_shrink() {
    let variant = variant("sorcerer-reinforcements");
    let mut position = Position::start(&variant);
    let hands = |position: &Position| Document::read(&board(position, &BoardView::default())).hands();
    let start = hands(&position);
    assert!(start.contains(&("White Ninja Pawn in hand: 4".into(), "×4".into())), "{start:?}");
    assert_eq!(start.len(), 6);
    play(&mut position, "a2a4 e11d8 e0d3");
    let before = hands(&position).len();
    let drop = position.legal_moves().into_iter().map(|mv| position.move_text(mv)).find(|text| text.starts_with("G@"));
    let (drop, unit) = (drop.expect("e11 or f11 is free"), "Black Stealth Gryphon in hand: 1");
    assert!(hands(&position).iter().any(|held| held.0 == unit));
    play(&mut position, &drop);
    assert_eq!(hands(&position).len(), before - 1);
    assert!(!hands(&position).iter().any(|held| held.0 == unit));
}

#[test]
fn last_moves_and_marks_are_where_they_belong() {
    let variant = variant("herculean");
    let mut game = Game::new(Position::start(&variant));
    let mv = game.position().parse_move("c3c6").unwrap();
    game.play(mv);
    let square = |name: &str| variant.topology().parse(name).unwrap();
    let marks: SquareSet = ["a1", "l12"].map(square).into_iter().collect();
    let view = BoardView { last_move: game.moves().last().copied(), marks, ..BoardView::default() };
    let svg = Document::read(&board(game.position(), &view));
    let corner = |square: Square| (LEFT + i32::from(square.file()) * CELL, TOP + (11 - i32::from(square.row())) * CELL);
    assert_eq!(svg.squares("#ecc94b"), ["c3", "c6"].map(|name| corner(square(name))).into_iter().collect());
    let frames = svg.named("rect").filter(|(_, rect)| rect.attributes.contains_key("rx"));
    let frames: BTreeSet<(i32, i32)> = frames
        .map(|(_, rect)| {
            (rect.attributes["x"].parse::<i32>().unwrap() - 5, rect.attributes["y"].parse::<i32>().unwrap() - 5)
        })
        .collect();
    assert_eq!(frames, ["a1", "l12"].map(|name| corner(square(name))).into_iter().collect());
    let description = &svg.named("desc").next().unwrap().1.text;
    assert!(description.contains("Last move: c3 to c6.\nMarked: a1 l12.\n"), "{description}");
    assert_eq!(svg.title(), "Herculean Chess, move 1, Black to move");
    let without = Document::read(&board(game.position(), &BoardView::default()));
    assert!(
        without.squares("#ecc94b").is_empty()
            && !without.named("rect").any(|(_, rect)| rect.attributes.contains_key("rx"))
    );
}

#[test]
fn names_are_escaped_and_letters_are_any() {
    let variant = variant_from(
        "format = 1\ninherits = \"chess\"\n[variant]\nname = \"A <b> & \\\"c\\\" ]]> \\u0007\"\n[board]\nsetup = \"\"\"\n\
         r n b ж k b n r\np p p p p p p p\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n\
         P P P P P P P P\nR N B Ж K B N R\n\"\"\"\n[pieces]\nqueen = { letter = \"Ж\", moves = \"Q\" }\n",
    );
    let start = read(&variant, "rnbжkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBЖKBNR w KQkq - 0 1");
    let svg = Document::read(&board(&start, &BoardView::default()));
    assert_eq!(svg.title(), "A <b> & \"c\" ]]> \u{fffd}, move 1, White to move");
    assert!(svg.named("text").any(|(_, text)| text.text == "Ж"));
}

#[test]
fn sizes_are_those_of_the_longer_side() {
    for (game, size) in [("chess", 700), ("wolf", 333), ("sorcerer-reinforcements", 1000)] {
        let view = BoardView { size, ..BoardView::default() };
        let svg = Document::read(&board(&Position::start(&variant(game)), &view));
        let pixels = |key: &str| svg.0[0].attributes[key].parse::<u16>().unwrap();
        assert_eq!(pixels("width").max(pixels("height")), size, "{game}");
        let units: Vec<f64> = svg.0[0].attributes["viewBox"].split(' ').map(|part| part.parse().unwrap()).collect();
        let (drawn, wanted) = (f64::from(pixels("width")) / f64::from(pixels("height")), units[2] / units[3]);
        assert!((drawn - wanted).abs() < 0.01, "{game}: {drawn} {wanted}");
    }
}

/// Black's men go the other way, and those who look from Black's side see them go ahead.
#[test]
fn signs_point_where_the_men_go() {
    let makruk = variant("makruk");
    let khon = makruk.unit_named("khon").unwrap();
    let rays = |drawn: &str| {
        drawn
            .split("M83 80l")
            .skip(1)
            .map(|ray| ray.split(['M', '"']).next().unwrap().to_owned())
            .collect::<BTreeSet<String>>()
    };
    let (white, black) = (man(&makruk, khon, Colour::White), man(&makruk, khon, Colour::Black));
    assert_eq!((rays(&white).len(), rays(&black).len()), (5, 5));
    assert!(rays(&white).contains("0 -8.5") && !rays(&white).contains("0 8.5"), "{white}");
    assert!(rays(&black).contains("0 8.5") && !rays(&black).contains("0 -8.5"), "{black}");
    // On a turned board left and right change too.
    let legan = variant("legan");
    let pawn = legan.unit_named("pawn").unwrap();
    let (white, black) = (man(&legan, pawn, Colour::White), man(&legan, pawn, Colour::Black));
    assert!(rays(&white).contains("-8.5 0") && !rays(&white).contains("8.5 0"), "{white}");
    assert!(rays(&black).contains("8.5 0") && !rays(&black).contains("-8.5 0"), "{black}");
}

#[test]
fn the_moves_of_every_unit_are_drawn() {
    for variant in shipped() {
        let explanation = Explanation::of(&variant);
        for (unit, explained) in variant.units().zip(&explanation.units) {
            for diagram in &explained.diagrams {
                let svg = unit_moves(&variant, unit, diagram);
                let document = Document::read(&svg);
                let placed = document.named("g").filter(|(_, group)| {
                    group.parent == Some(0)
                        && group.attributes.get("transform").is_some_and(|at| at.starts_with("translate"))
                });
                assert_eq!(placed.count(), diagram.marks.len() + 1, "{} {}", variant.name(), explained.name);
                let description = &document.named("desc").next().unwrap().1.text;
                for mark in &diagram.marks {
                    let line = diagram.legend.iter().find(|legend| legend.symbol == mark.symbol).unwrap();
                    let told =
                        description.lines().find(|told| told.starts_with(&format!("{}:", line.meaning))).unwrap();
                    assert!(told.split(' ').any(|word| word == mark.square), "{told} lacks {}", mark.square);
                }
                let on = format!(
                    "{} ({}){} on {}",
                    explained.name,
                    explained.letter,
                    diagram.from.as_ref().map_or(String::new(), |from| format!(", from {from}")),
                    diagram.square
                );
                assert!(document.title().ends_with(&on), "{}", document.title());
            }
        }
    }
}

#[test]
fn text_tells_what_is_known() {
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    let told = text(&Game::new(position("chess", fen)));
    for line in [
        "  1  R N B Q K B N R",
        "     a b c d e f g h",
        &format!("Fen: {fen}"),
        "Side to move: white, in check",
        "Checkers: h4",
        "Legal moves: 0",
        "Game over: Black wins (checkmate)",
    ] {
        assert!(told.lines().any(|told| told == line), "{line:?} in {told}");
    }
}
