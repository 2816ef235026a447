//! Every number of the search, in one table: name, default, range, step, what it does and where the idea comes from.

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

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// No such name.
    #[error("expected the name of a search parameter, got {0:?}")]
    Unknown(String),
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
        got: i32,
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
                match name {
                    $(stringify!($name) => {
                        if !($min..=$max).contains(&value) {
                            return Err(ParamError::Range { name: stringify!($name), min: $min, max: $max, got: value });
                        }
                        self.$name = value;
                        Ok(())
                    })*
                    _ => Err(ParamError::Unknown(name.into())),
                }
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

params! {
    aspiration_depth = 4, 2..=12, step 1, "Depth from which the window is narrowed around the last score.",
        "Aspiration Windows";
    aspiration_window = 25, 5..=200, step 5, "Half width of the first narrowed window, in centipawns.",
        "Aspiration Windows";
    aspiration_widest = 1000, 100..=4000, step 100, "Width beyond which the window is opened wholly, in centipawns.",
        "Aspiration Windows";
    reverse_futility_depth = 7, 0..=12, step 1, "Greatest depth at which a far better static value cuts at once.",
        "Reverse Futility Pruning";
    reverse_futility_margin = 85, 20..=250, step 10, "Margin a ply of that cut, in centipawns.",
        "Reverse Futility Pruning";
    null_move_depth = 3, 1..=8, step 1, "Least depth at which passing is tried.",
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
    internal_reduction_depth = 4, 2..=10, step 1, "Least depth at which a node without a table move is reduced by one ply.",
        "Internal Iterative Reductions";
    late_move_base = 24, 1..=90, step 4, "Quiet moves always tried at the lowest depth before the rest is left out.",
        "Futility Pruning, move count based";
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
    exchange_margin = 90, 10..=300, step 10, "Loss a ply that is still accepted, in centipawns.",
        "Static Exchange Evaluation";
    reduction_base = 50, 0..=200, step 10, "Late move reduction: fixed part, in hundredths of a ply.",
        "Late Move Reductions";
    reduction_slope = 42, 10..=120, step 4, "Late move reduction: factor of ln(depth)·ln(move number), in hundredths.",
        "Late Move Reductions";
    reduction_history = 6000, 1000..=20000, step 500, "History score that takes one ply off a reduction.",
        "Late Move Reductions, History Heuristic";
    reduction_depth = 3, 2..=6, step 1, "Least depth at which late moves are reduced.",
        "Late Move Reductions";
    history_bonus = 160, 20..=600, step 20, "History bonus a ply of depth for a quiet move that cuts.",
        "History Heuristic";
    history_most = 1800, 400..=4000, step 100, "Greatest such bonus.",
        "History Heuristic";
    order_gain = 16, 0..=200, step 8, "History points for each centipawn that a quiet move's square gains, in the order of moves.",
        "Move Ordering";
    delta_margin = 150, 0..=600, step 25, "Quiescence: captures that stay this far below alpha are left out, in centipawns.",
        "Delta Pruning";
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
        }
        assert!(params.set("no_such_number", 1).is_err());
    }
}
