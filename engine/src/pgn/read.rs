//! A stream of games: tokens gathered into one game at a time, and the way on after a broken one.

use super::replay::{self, Raw, RawMove};
use super::tokens::{Misread, Token, Tokens, limits};
use super::{FaultKind, PgnFault, PgnGame, PgnResult, Place, Warning};
use crate::variant::Variant;
use std::io::BufRead;
use std::sync::Arc;

/// Reads games one by one. Memory is bounded by [`limits`], whatever the length of the text.
///
/// A broken game is an `Err`, and the game behind it comes next; only after [`FaultKind::Read`] nothing comes.
///
/// ```
/// use fairyforge_engine::pgn::{NamedVariants, PgnReader};
/// use fairyforge_engine::variant::Variant;
/// let mut variants = NamedVariants::new(Variant::load("chess")?.into());
/// let text = "1. e4 e5 2. Ke7 *\n\n[Event \"?\"]\n\n1. e4 e5 2. Nf3 *\n";
/// let games: Vec<_> = PgnReader::new(text.as_bytes(), |tag| variants.find(tag)).collect();
/// assert!(games[0].as_ref().unwrap_err().to_string().starts_with("1:13: game 1: move \"Ke7\" is not legal"));
/// assert_eq!(games[1].as_ref().unwrap().moves.len(), 3);
/// # Ok::<(), fairyforge_engine::variant::LoadError>(())
/// ```
pub struct PgnReader<R, V> {
    tokens: Tokens<R>,
    variants: V,
    /// A tag that has shown that a game is over, and belongs to the next.
    pending: Option<(Place, Token)>,
    game: u64,
    over: bool,
}

impl<R: BufRead, V: FnMut(Option<&str>) -> Result<Arc<Variant>, String>> PgnReader<R, V> {
    /// Reads games from `text`; `variants` says which game a `Variant` tag means, or what a game without it is.
    pub fn new(text: R, variants: V) -> Self {
        Self { tokens: Tokens::new(text), variants, pending: None, game: 0, over: false }
    }

    /// Bytes read so far.
    pub const fn bytes_read(&self) -> u64 {
        self.tokens.consumed()
    }

    fn read_game(&mut self) -> Result<Option<PgnGame>, PgnFault> {
        let mut gathered = Gathered::begin(self.tokens.consumed());
        let ended = loop {
            let token = self.pending.take().map_or_else(|| self.tokens.next(), Ok);
            let taken = token.and_then(|(place, token)| gathered.take(place, token, self.tokens.consumed()));
            match taken {
                Ok(Taken::In) => {}
                Ok(Taken::Over) => break Ok(()),
                Ok(Taken::NextGames(place, token)) => {
                    self.pending = Some((place, token));
                    break gathered.closed();
                }
                Ok(Taken::Ended) if gathered.is_nothing() => return Ok(None),
                Ok(Taken::Ended) => break gathered.closed(),
                Err(misread) => break Err(misread),
            }
        };
        self.game += 1;
        let game = self.game;
        let fault = |(place, kind)| PgnFault { game, place, kind };
        if let Err(misread) = ended {
            self.go_on_after(&misread, gathered.moves_begun);
            return Err(fault(misread));
        }
        replay::play(gathered.raw, game, &mut self.variants).map(Some).map_err(fault)
    }

    /// Finds the next game, unless its first tag has been read already.
    fn go_on_after(&mut self, misread: &Misread, moves_begun: bool) {
        if matches!(misread.1, FaultKind::Read(_)) {
            self.over = true;
        } else if self.pending.is_none() {
            // Whoever cannot read will say so when the next game is asked for.
            let _ = self.tokens.skip_game(moves_begun);
        }
    }
}

impl<R: BufRead, V: FnMut(Option<&str>) -> Result<Arc<Variant>, String>> Iterator for PgnReader<R, V> {
    type Item = Result<PgnGame, PgnFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let game = self.read_game().transpose();
        self.over |= game.is_none();
        game
    }
}

/// What became of a token.
enum Taken {
    /// It is part of the game.
    In,
    /// It was the game's last.
    Over,
    /// It is the first of the next game.
    NextGames(Place, Token),
    /// The text is over.
    Ended,
}

/// A game while its tokens come in.
struct Gathered {
    raw: Raw,
    began_at: u64,
    /// Something other than tags was there.
    moves_begun: bool,
    /// Where the variations begin that are open.
    open: Vec<Place>,
}

impl Gathered {
    fn begin(began_at: u64) -> Self {
        Self { raw: Raw::default(), began_at, moves_begun: false, open: Vec::new() }
    }

    fn is_nothing(&self) -> bool {
        self.raw.tags.is_empty() && self.raw.moves.is_empty() && self.open.is_empty()
    }

    /// The game ends without a marker; so must its variations.
    fn closed(&self) -> Result<(), Misread> {
        self.open.first().map_or(Ok(()), |&place| Err((place, FaultKind::OpenVariation)))
    }

    fn take(&mut self, place: Place, token: Token, consumed: u64) -> Result<Taken, Misread> {
        if consumed.saturating_sub(self.began_at) > limits::GAME as u64 {
            return Err((place, FaultKind::TooLong { what: "bytes of a game", most: limits::GAME }));
        }
        if self.is_nothing() && !matches!(token, Token::End | Token::Comment(_)) {
            self.raw.place = place;
        }
        match token {
            Token::End => return Ok(Taken::Ended),
            Token::Tag { name, value } => return self.take_tag(place, name, value),
            Token::Word(word) => return self.take_word(place, &word),
            Token::Comment(text) => self.take_comment(&text),
            Token::Glyph(nag) => self.take_glyph(nag),
            Token::Open if self.open.len() == limits::PLIES => {
                return Err((place, FaultKind::TooLong { what: "variations in one another", most: limits::PLIES }));
            }
            Token::Open => self.open.push(place),
            Token::Close => {
                self.open.pop().ok_or((place, FaultKind::NoVariation))?;
            }
        }
        self.moves_begun = true;
        Ok(Taken::In)
    }

    fn take_tag(&mut self, place: Place, name: String, value: String) -> Result<Taken, Misread> {
        let known = self.raw.tags.iter().any(|(_, tag)| tag.0 == name);
        if self.moves_begun && !self.is_nothing() || known && name == super::ROSTER[0] {
            return Ok(Taken::NextGames(place, Token::Tag { name, value }));
        }
        self.moves_begun = false;
        if known {
            self.raw.warnings.push((place, Warning::TagTwice(name)));
        } else {
            self.raw.tags.push((place, (name, value)));
        }
        if self.raw.tags.len() + self.raw.warnings.len() > limits::TAGS {
            return Err((place, FaultKind::TooLong { what: "tags", most: limits::TAGS }));
        }
        Ok(Taken::In)
    }

    fn take_word(&mut self, place: Place, word: &str) -> Result<Taken, Misread> {
        self.moves_begun = true;
        if !self.open.is_empty() {
            return Ok(Taken::In);
        }
        if let Some(result) = PgnResult::read(word) {
            self.raw.marker = Some((place, result));
            return Ok(Taken::Over);
        }
        let number = word.len() - without_number(word).len();
        let mv = &word[number..];
        let place = Place { column: place.column + number as u64, ..place };
        if let Some(nag) = glyph(mv) {
            self.take_glyph(nag);
        } else if !mv.is_empty() && mv != "e.p." {
            self.take_move(place, mv)?;
        }
        Ok(Taken::In)
    }

    fn take_move(&mut self, place: Place, text: &str) -> Result<(), Misread> {
        if self.raw.moves.len() == limits::PLIES {
            return Err((place, FaultKind::TooLong { what: "plies", most: limits::PLIES }));
        }
        let bare = text.trim_end_matches(['!', '?']);
        let nags = glyph(&text[bare.len()..]).into_iter().collect();
        self.raw.moves.push(RawMove { place, text: bare.into(), nags, comment: String::new() });
        Ok(())
    }

    fn take_comment(&mut self, text: &str) {
        if !self.open.is_empty() {
            return;
        }
        let comment = self.raw.moves.last_mut().map_or(&mut self.raw.comment, |played| &mut played.comment);
        if !comment.is_empty() {
            comment.push(' ');
        }
        comment.push_str(text);
    }

    fn take_glyph(&mut self, nag: u8) {
        if self.open.is_empty()
            && let Some(played) = self.raw.moves.last_mut()
        {
            played.nags.push(nag);
        }
    }
}

/// Cuts off `12.` or `12...`; dots alone and numbers alone leave nothing.
fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.is_empty() || rest.starts_with('.') { rest.trim_start_matches('.') } else { word }
}

/// The number of `!`, `?` and their kin.
fn glyph(text: &str) -> Option<u8> {
    let known = ["!", "?", "!!", "??", "!?", "?!"];
    (1..).zip(known).find(|(_, glyph)| *glyph == text).map(|(nag, _)| nag)
}
