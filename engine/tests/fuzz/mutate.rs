//! Inputs made of other inputs: cut, doubled, spliced, sprinkled with words of the language and with trouble.

use crate::common::below;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Numbers that programs stumble over.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "16",
    "17",
    "255",
    "256",
    "32768",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775808",
    "99999999999999999999999999",
    "1e309",
];
/// Characters that programs stumble over: of several bytes, of two forms, without width, right to left, not even text.
const TROUBLE: [&[u8]; 14] = [
    "Ä".as_bytes(),
    "ß".as_bytes(),
    "Σς".as_bytes(),
    "ı".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{202e}".as_bytes(),
    "♔".as_bytes(),
    "𝔎".as_bytes(),
    "e\u{301}".as_bytes(),
    b"\0",
    b"\r\n",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\xc3",
];
/// Most accepted inputs that are mutated further.
const MOST_KEPT: usize = 256;
/// Most repetitions of a doubled piece.
const MOST_COPIES: usize = 40;

/// The source of one target's inputs.
pub struct Mutator {
    random: ChaCha8Rng,
    seeds: Vec<Vec<u8>>,
    kept: Vec<Vec<u8>>,
    words: &'static [&'static str],
    most_bytes: usize,
}

impl Mutator {
    /// `words` are what the language is made of; no input is longer than `most_bytes`.
    pub fn new(seed: u64, seeds: Vec<Vec<u8>>, words: &'static [&'static str], most_bytes: usize) -> Self {
        assert!(!seeds.is_empty());
        Self { random: ChaCha8Rng::seed_from_u64(seed), seeds, kept: Vec::new(), words, most_bytes }
    }

    /// Another input.
    pub fn next(&mut self) -> Vec<u8> {
        let mut input = self.source();
        let times = if below(&mut self.random, 2) == 0 { 1 } else { 1 + below(&mut self.random, 4) };
        for _ in 0..times {
            self.mutate(&mut input);
        }
        input.truncate(self.most_bytes);
        input
    }

    /// Mutates this one, too, from now on.
    pub fn keep(&mut self, input: Vec<u8>) {
        if self.kept.len() < MOST_KEPT {
            self.kept.push(input);
        } else {
            let index = below(&mut self.random, MOST_KEPT);
            self.kept[index] = input;
        }
    }

    /// Mostly a seed: kept inputs of kept inputs are far from anything that anybody would write.
    fn source(&mut self) -> Vec<u8> {
        let from = if self.kept.is_empty() || below(&mut self.random, 3) > 0 { &self.seeds } else { &self.kept };
        from[below(&mut self.random, from.len())].clone()
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let at = below(&mut self.random, input.len() + 1);
        match below(&mut self.random, 14) {
            0 => self.flip_a_bit(input),
            1 => self.replace(input, at, 1),
            2..=4 => {
                let word = self.word();
                input.splice(at..at, word);
            }
            5 => {
                let piece = self.piece_of_another();
                input.splice(at..at, piece);
            }
            6 => {
                input.drain(self.range(input.len()));
            }
            7 => self.double(input, at),
            8 => input.truncate(at),
            9 => self.replace_a_number(input),
            10 => {
                let trouble = TROUBLE[below(&mut self.random, TROUBLE.len())];
                input.splice(at..at, trouble.iter().copied());
            }
            11 => self.swap_lines(input),
            12 => self.replace_a_word(input),
            _ => {
                let end = (at + below(&mut self.random, 8)).min(input.len());
                let word = self.word();
                input.splice(at..end, word);
            }
        }
    }

    fn flip_a_bit(&mut self, input: &mut [u8]) {
        if !input.is_empty() {
            let at = below(&mut self.random, input.len());
            input[at] ^= 1 << below(&mut self.random, 8);
        }
    }

    fn replace(&mut self, input: &mut [u8], at: usize, bytes: usize) {
        for byte in input.iter_mut().skip(at).take(bytes) {
            *byte = b' ' + below(&mut self.random, 95) as u8;
        }
    }

    fn word(&mut self) -> Vec<u8> {
        self.words[below(&mut self.random, self.words.len())].as_bytes().to_vec()
    }

    fn piece_of_another(&mut self) -> Vec<u8> {
        let other = self.source();
        other[self.range(other.len())].to_vec()
    }

    /// A part of so many bytes, short more often than long.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = below(&mut self.random, length + 1);
        let most = if below(&mut self.random, 4) == 0 { length } else { 12 };
        start..(start + below(&mut self.random, most + 1)).min(length)
    }

    fn double(&mut self, input: &mut Vec<u8>, at: usize) {
        let piece = input[self.range(input.len())].to_vec();
        let copies = if below(&mut self.random, 4) == 0 { below(&mut self.random, MOST_COPIES) } else { 1 };
        let most = self.most_bytes.saturating_sub(input.len()) / piece.len().max(1);
        input.splice(at..at, piece.repeat(copies.min(most)));
    }

    fn replace_a_number(&mut self, input: &mut Vec<u8>) {
        let starts =
            |index: &usize| input[*index].is_ascii_digit() && (*index == 0 || !input[*index - 1].is_ascii_digit());
        let numbers: Vec<usize> = (0..input.len()).filter(starts).collect();
        if numbers.is_empty() {
            return;
        }
        let start = numbers[below(&mut self.random, numbers.len())];
        let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = NUMBERS[below(&mut self.random, NUMBERS.len())];
        input.splice(start..start + length, number.bytes());
    }

    /// One blank-separated word becomes another of the input or the language.
    fn replace_a_word(&mut self, input: &mut Vec<u8>) {
        let mut words: Vec<Vec<u8>> = input.split(|&byte| byte == b' ').map(Into::into).collect();
        let (at, from) = (below(&mut self.random, words.len()), below(&mut self.random, words.len()));
        words[at] = if below(&mut self.random, 2) == 0 { words[from].clone() } else { self.word() };
        *input = words.join(&b' ');
    }

    fn swap_lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = input.split(|&byte| byte == b'\n').map(Into::into).collect();
        let (a, b) = (below(&mut self.random, lines.len()), below(&mut self.random, lines.len()));
        lines.swap(a, b);
        *input = lines.join(&b'\n');
    }
}
