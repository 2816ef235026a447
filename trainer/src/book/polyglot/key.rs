//! Keys of positions, as programs that read Polyglot's books make them.

use super::numbers::NUMBERS;
use super::orthodox::{Man, Men};
use fairyforge_engine::position::{Piece, Position};
use fairyforge_engine::variant::rules::Colour;

/// Numbers of a man: one for each square.
const SQUARES: usize = 64;
/// Number of squares of a rank, and so of files.
const FILES: usize = 8;
/// Where the numbers of castling rights begin: White's to the king's side, to the queen's side, Black's.
const CASTLING: usize = 12 * SQUARES;
/// Where those of files begin on which a pawn may be taken en passant.
const EN_PASSANT: usize = CASTLING + 4;
/// The number of White's being to move.
const WHITE_TO_MOVE: usize = EN_PASSANT + FILES;

/// All that a key is made of: which of the numbers are combined. Two positions with the same facts are one to the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts(Vec<u16>);

impl Facts {
    /// The facts of a position of a game with these men.
    pub fn of(position: &Position, men: &Men) -> Self {
        let on_board = position.occupied().iter().map(|square| {
            let piece = position.piece_at(square);
            let kind = 2 * men.man(piece.unit()) as usize + usize::from(piece.colour() == Colour::White);
            SQUARES * kind + FILES * usize::from(square.row()) + usize::from(square.file())
        });
        let wings = position.variant().castling().iter();
        let rights = wings
            .filter(|wing| position.castling_rights() & wing.right != 0)
            .map(|wing| CASTLING + 2 * wing.colour.index() + usize::from(!wing.higher));
        let white = (position.side_to_move() == Colour::White).then_some(WHITE_TO_MOVE);
        let facts = on_board.chain(rights).chain(passed_file(position, men)).chain(white);
        Self(facts.map(|fact| fact as u16).collect())
    }

    /// The key.
    pub fn key(&self) -> u64 {
        self.0.iter().fold(0, |key, &fact| key ^ NUMBERS[usize::from(fact)])
    }
}

/// The file of a pawn that has just gone two squares, if a pawn of the side to move stands beside it: whether that may take it legally
/// is not asked.
fn passed_file(position: &Position, men: &Men) -> Option<usize> {
    let pawn = position.en_passant()?.pawn;
    let is_taker = |piece: Piece| {
        !piece.is_none() && piece.colour() == position.side_to_move() && men.man(piece.unit()) == Man::Pawn
    };
    let beside = |files| position.variant().topology().step(pawn, files, 0);
    let stands_beside = [-1, 1].into_iter().filter_map(beside).any(|square| is_taker(position.piece_at(square)));
    stands_beside.then(|| EN_PASSANT + usize::from(pawn.file()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::{hex, sha256};
    use fairyforge_engine::position::Unobserved;
    use fairyforge_engine::variant::Variant;
    use std::sync::Arc;

    fn key(moves: &str) -> u64 {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let mut position = Position::start(&variant);
        for text in moves.split_whitespace() {
            let mv = position.parse_move(text).unwrap();
            position.make(mv, &mut Unobserved);
        }
        Facts::of(&position, &Men::of(&variant).unwrap()).key()
    }

    /// The positions that the format's description gives keys for.
    #[test]
    fn published_keys() {
        let published = [
            ("", 0x463b_9618_1691_fc9c),
            ("e2e4", 0x823c_9b50_fd11_4196),
            ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
            ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
        ];
        for (moves, expected) in published {
            assert_eq!(key(moves), expected, "{moves}");
        }
    }

    /// The published positions touch only some of the numbers; the checksum is that of another program's copy, python-chess's.
    #[test]
    fn no_number_has_a_slip() {
        let bytes: Vec<u8> = NUMBERS.iter().flat_map(|number| number.to_be_bytes()).collect();
        assert_eq!(
            hex(&sha256(&[bytes.as_slice()])),
            "9aee840377ba74c9a7fe8e254958ad312aa15766257d18823f866b070cbcc9e8"
        );
        assert_eq!(WHITE_TO_MOVE + 1, NUMBERS.len());
    }
}
