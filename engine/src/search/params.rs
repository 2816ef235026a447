//! Every number of the search, in one table: name, default, range, step, what it does and where the idea comes from.
//!
//! What is no parameter: sizes of tables and buffers, the bands that keep kinds of moves apart in the order, and mate scores. They are
//! constants beside the code that they are for. Reading and writing search files is in `file`.

mod file;

pub use file::{FaultReason, ParamsError, ParamsFault};

/// A row of the table, for lists and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name, as in `null_move_base`.
    pub name: &'static str,
    /// Default value.
    pub default: i32,
    /// Least value that makes sense.
    pub min: i32,
    /// Greatest value that makes sense.
    pub max: i32,
    /// A change that is likely to be measurable.
    pub step: i32,
    /// What it does.
    pub about: &'static str,
    /// Where the idea is described: an article of the Chess Programming Wiki. The values are our own, chosen by hand and, where
    /// the changelog says so, by matches.
    pub source: &'static str,
}

impl Param {
    /// A whole number as a value of this parameter.
    ///
    /// # Errors
    /// It is out of the range.
    pub fn check(&self, number: i64) -> Result<i32, ParamError> {
        let Self { name, min, max, .. } = *self;
        let value = i32::try_from(number).ok().filter(|value| (min..=max).contains(value));
        value.ok_or(ParamError::Range { name, min, max, got: number })
    }

    /// The value nearest to a number within the range: what a tuner that thinks in fractions plays with.
    ///
    /// ```
    /// use fairyforge_engine::search::Params;
    /// let row = Params::row("late_move_base")?;
    /// assert_eq!((row.nearest(20.4), row.nearest(-3.0), row.nearest(1e9)), (20, row.min, row.max));
    /// # Ok::<(), fairyforge_engine::search::params::ParamError>(())
    /// ```
    pub fn nearest(&self, number: f64) -> i32 {
        // The cast takes what is no number to 0, and what is too large to the ends of the type.
        (number.round() as i32).clamp(self.min, self.max)
    }
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// No such name.
    #[error("expected the name of a search parameter, got {got:?}; the nearest is {nearest:?}")]
    Unknown {
        /// What came.
        got: String,
        /// The parameter with the nearest name.
        nearest: &'static str,
    },
    /// Outside its range.
    #[error("{name}: expected {min} to {max}, got {got}")]
    Range {
        /// Which parameter.
        name: &'static str,
        /// Least value.
        min: i32,
        /// Greatest value.
        max: i32,
        /// What came.
        got: i64,
    },
}

macro_rules! params {
    ($($name:ident = $default:literal, $min:literal..=$max:literal, step $step:literal, $about:literal, $source:literal;)*) => {
        /// The numbers of one search. Every engine instance has its own.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Params {
            $(#[doc = $about] pub $name: i32,)*
        }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Params {
            /// The whole table.
            pub const TABLE: &'static [Param] = &[$(Param {
                name: stringify!($name), default: $default, min: $min, max: $max, step: $step, about: $about, source: $source,
            },)*];

            /// Sets a number by name.
            ///
            /// # Errors
            /// There is no such number, or the value is out of its range.
            pub fn set(&mut self, name: &str, value: i32) -> Result<(), ParamError> {
                let value = Self::row(name)?.check(value.into())?;
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return Err(unknown(name)),
                }
                Ok(())
            }

            /// A number by name.
            pub fn get(&self, name: &str) -> Option<i32> {
                match name {
                    $(stringify!($name) => Some(self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

impl Params {
    /// The row of a number by name.
    ///
    /// # Errors
    /// There is no such number.
    pub fn row(name: &str) -> Result<&'static Param, ParamError> {
        Self::TABLE.iter().find(|row| row.name == name).ok_or_else(|| unknown(name))
    }

    /// All numbers, in the order of the table.
    pub fn values(&self) -> impl Iterator<Item = (&'static Param, i32)> {
        Self::TABLE.iter().map(|row| (row, self.get(row.name).unwrap_or(row.default)))
    }

    /// The numbers that differ from the defaults, in the order of the table.
    pub fn changed(&self) -> impl Iterator<Item = (&'static Param, i32)> {
        self.values().filter(|(row, value)| *value != row.default)
    }
}

fn unknown(name: &str) -> ParamError {
    let nearest = file::nearest(name, Params::TABLE.iter().map(|row| row.name));
    ParamError::Unknown { got: file::repeated(name), nearest }
}

params! {
    aspiration_depth = 4, 2..=12, step 1, "Depth from which the window is narrowed around the last score.",
        "Aspiration Windows";
    aspiration_window = 25, 5..=200, step 5, "Half width of the first narrowed window, in centipawns.",
        "Aspiration Windows";
    aspiration_growth = 200, 120..=400, step 20, "Width of the next window after one that was too narrow, in percent.",
        "Aspiration Windows";
    aspiration_widest = 1000, 100..=4000, step 100, "Width beyond which the window is opened wholly, in centipawns.",
        "Aspiration Windows";
    reverse_futility_depth = 7, 0..=12, step 1, "Greatest depth at which a far better static value cuts at once.",
        "Reverse Futility Pruning";
    reverse_futility_margin = 85, 20..=250, step 10, "Margin a ply of that cut, in centipawns.",
        "Reverse Futility Pruning";
    reverse_futility_improving = 85, 0..=250, step 10, "Less margin where the static value has risen, in centipawns.",
        "Reverse Futility Pruning, Improving";
    null_move_depth = 3, 1..=8, step 1, "Least depth at which passing is tried.",
        "Null Move Pruning";
    null_move_static = 0, -200..=200, step 10, "Centipawns above beta that the static value must reach before passing is tried.",
        "Null Move Pruning";
    null_move_base = 3, 1..=6, step 1, "Plies by which a search after passing is reduced.",
        "Null Move Pruning";
    null_move_divisor = 4, 2..=10, step 1, "A further ply of reduction for every so many plies of depth.",
        "Null Move Pruning";
    null_move_margin = 200, 50..=600, step 25, "A further ply for every so many centipawns above beta.",
        "Null Move Pruning";
    null_move_surplus = 3, 0..=8, step 1, "Most such further plies.",
        "Null Move Pruning";
    null_move_pieces = 2, 0..=6, step 1, "Men besides king and pawns without which passing is not tried.",
        "Null Move Pruning, Zugzwang";
    null_move_verify = 10, 6..=30, step 2, "Depth from which a cut after passing is verified without passing.",
        "Null Move Pruning, Verified Null-Move Pruning (David-Tabibi, Netanyahu 2002)";
    check_extension = 1, 0..=1, step 1, "Plies by which a node in check is extended.",
        "Check Extensions";
    internal_reduction_depth = 4, 2..=10, step 1, "Least depth at which a node without a table move is reduced.",
        "Internal Iterative Reductions";
    internal_reduction = 1, 0..=3, step 1, "Plies of that reduction.",
        "Internal Iterative Reductions";
    late_move_base = 24, 1..=90, step 4, "Quiet moves always tried at the lowest depth before the rest is left out.",
        "Futility Pruning, move count based";
    late_move_slope = 100, 0..=400, step 20, "Further such moves for depth squared, in hundredths.",
        "Futility Pruning, move count based";
    late_move_improving = 200, 0..=600, step 20, "The same where the static value has risen.",
        "Futility Pruning, move count based, Improving";
    late_move_depth = 6, 0..=10, step 1, "Greatest depth at which late quiet moves are left out.",
        "Futility Pruning, move count based";
    futility_depth = 6, 0..=10, step 1, "Greatest depth at which quiet moves too far below alpha are left out.",
        "Futility Pruning";
    futility_base = 100, 0..=400, step 20, "Fixed part of that distance, in centipawns.",
        "Futility Pruning";
    futility_margin = 90, 20..=250, step 10, "Part a ply of that distance, in centipawns.",
        "Futility Pruning";
    exchange_depth = 6, 0..=10, step 1, "Greatest depth at which losing exchanges are left out.",
        "Static Exchange Evaluation";
    exchange_margin = 90, 10..=300, step 10, "Loss a ply that is still accepted of a capture or promotion, in centipawns.",
        "Static Exchange Evaluation";
    exchange_quiet_margin = 90, 10..=300, step 10, "Loss a ply that is still accepted of a quiet move, in centipawns.",
        "Static Exchange Evaluation";
    reduction_base = 50, 0..=200, step 10, "Late move reduction: fixed part, in hundredths of a ply.",
        "Late Move Reductions";
    reduction_slope = 42, 10..=120, step 4, "Late move reduction: factor of ln(depth)·ln(move number), in hundredths.",
        "Late Move Reductions";
    reduction_history = 6000, 1000..=20000, step 500, "History score that takes one ply off a reduction.",
        "Late Move Reductions, History Heuristic";
    reduction_depth = 3, 2..=6, step 1, "Least depth at which late moves are reduced.",
        "Late Move Reductions";
    reduction_moves = 2, 1..=8, step 1, "Moves searched before later ones are reduced.",
        "Late Move Reductions";
    reduction_moves_pv = 3, 1..=8, step 1, "The same where the exact score is looked for.",
        "Late Move Reductions";
    reduction_pv = 1, 0..=3, step 1, "Plies that reductions are less where the exact score is looked for.",
        "Late Move Reductions";
    reduction_improving = 1, 0..=3, step 1, "Plies that reductions are less where the static value has risen.",
        "Late Move Reductions, Improving";
    reduction_noisy = 50, 0..=150, step 10, "Reduction of late captures that lose material, in percent of that of quiet moves.",
        "Late Move Reductions";
    history_bonus = 160, 20..=600, step 20, "History bonus a ply of depth for a quiet move that cuts.",
        "History Heuristic";
    history_most = 1800, 400..=4000, step 100, "Greatest such bonus.",
        "History Heuristic";
    history_malus = 100, 0..=200, step 10, "History taken from quiet moves tried before the one that cuts, in percent of its bonus.",
        "History Heuristic";
    history_cap = 16384, 4000..=32000, step 1000, "History scores of one table stay within plus or minus this.",
        "History Heuristic, History Gravity";
    history_reply = 100, 0..=300, step 20, "Weight of the history of answers to the opponent's last move, in percent.",
        "Countermove Heuristic, Continuation History";
    history_follow = 100, 0..=300, step 20, "Weight of the history of moves that follow one's own last move, in percent.",
        "Countermove Heuristic, Continuation History";
    order_killer = 70000, 0..=100000, step 5000, "Place of the newest killer move in the order, in history points.",
        "Killer Heuristic";
    order_second_killer = 69000, 0..=100000, step 5000, "Place of the killer move before it.",
        "Killer Heuristic";
    order_victim = 16, 1..=64, step 2, "Weight of the man taken against the man that takes, in the order of captures.",
        "MVV-LVA";
    order_exchange = 0, -200..=200, step 10, "Captures that gain less than this by exchange are tried last, and not at all in quiescence, in centipawns.",
        "Static Exchange Evaluation, Quiescence Search";
    order_gain = 16, 0..=200, step 8, "History points for each centipawn that a quiet move's square gains, in the order of moves.",
        "Move Ordering";
    delta_margin = 150, 0..=600, step 25, "Quiescence: captures that stay this far below alpha are left out, in centipawns.",
        "Delta Pruning";
    contempt = 0, -200..=200, step 10, "What a draw is worth less than nothing to the side to move at the root, in centipawns.",
        "Contempt Factor";
    table_age = 4, 0..=16, step 1, "Plies of depth that an entry of the table counts less for every search since it was written.",
        "Transposition Table, Replacement Strategies";
    table_keep = 4, 1..=16, step 1, "A position's entry stays if it is deeper by so many plies than the bound that the same search has found now.",
        "Transposition Table, Replacement Strategies";
    time_moves_to_go = 30, 10..=80, step 5, "Moves that remaining time is shared among when the control does not say.",
        "Time Management";
    time_increment_share = 75, 0..=100, step 5, "Share of the increment spent a move, in percent.",
        "Time Management";
    time_soft = 60, 20..=100, step 5, "Share of a move's time after which no new depth is begun, in percent.",
        "Time Management";
    time_hard = 300, 100..=800, step 50, "Most a move may take, in percent of its share.",
        "Time Management";
    time_most = 40, 10..=90, step 5, "Most of the clock that one move may take while others follow, in percent.",
        "Time Management";
    time_overhead = 20, 0..=1000, step 10, "Milliseconds kept for what lies between engine and clock.",
        "Time Management";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_agrees_with_defaults() {
        let mut params = Params::default();
        for row in Params::TABLE {
            assert_eq!(params.get(row.name), Some(row.default));
            assert!((row.min..=row.max).contains(&row.default), "{}", row.name);
            assert!(params.set(row.name, row.max).is_ok());
            assert!(params.set(row.name, row.max + 1).is_err());
            assert!(params.set(row.name, row.min - 1).is_err());
            assert_eq!(params.get(row.name), Some(row.max));
            assert!(row.step > 0 && row.step <= row.max - row.min, "{}", row.name);
            assert!(row.about.ends_with('.'), "{}", row.name);
        }
        let error = params.set("late_move_bass", 1).unwrap_err().to_string();
        assert!(error.contains("\"late_move_bass\"; the nearest is \"late_move_base\""), "{error}");
    }

    #[test]
    fn tells_what_was_changed() {
        let mut params = Params::default();
        assert_eq!(params.changed().count(), 0);
        params.set("time_most", 50).unwrap();
        params.set("aspiration_window", 30).unwrap();
        params.set("delta_margin", Params::default().delta_margin).unwrap();
        let changed: Vec<_> = params.changed().map(|(row, value)| (row.name, value)).collect();
        assert_eq!(changed, [("aspiration_window", 30), ("time_most", 50)]);
        assert_eq!(params.values().count(), Params::TABLE.len());
    }
}
