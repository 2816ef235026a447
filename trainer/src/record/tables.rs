//! Games as two tables of columns, and back.
//!
//! The columns' names, order and types are the schema that [`super::SCHEMA_VERSION`] counts. No files here.

use polars::prelude::{Column, DataFrame, DataType, NamedFrom, PolarsError, Series};

use super::{Fault, GameRecord, PositionRecord};

const GAMES: [(&str, DataType); 7] = [
    ("game", DataType::UInt64),
    ("start_fen", DataType::String),
    ("random_plies", DataType::UInt16),
    ("imbalance", DataType::String),
    ("result", DataType::Int8),
    ("termination", DataType::String),
    ("plies", DataType::UInt16),
];

const POSITIONS: [(&str, DataType); 8] = [
    ("game", DataType::UInt64),
    ("result", DataType::Int8),
    ("ply", DataType::UInt16),
    ("packed", DataType::Binary),
    ("move", DataType::String),
    ("score", DataType::Int16),
    ("nodes", DataType::UInt32),
    ("quiet", DataType::Boolean),
];

/// What is wrong with games for one shard: none, a number out of order, an impossible result.
pub(super) fn check_games(games: &[GameRecord]) -> Result<(), Fault> {
    let first_game = games.first().ok_or(Fault::Empty)?.game;
    for (expected, game) in (first_game..).zip(games) {
        Fault::unless_next(expected, game.game)?;
        if !(-1..=1).contains(&game.result) {
            return Err(Fault::Result { game: game.game, got: game.result });
        }
    }
    Ok(())
}

/// One row a game.
pub(super) fn games_table(games: &[GameRecord]) -> Result<DataFrame, Fault> {
    let each = || games.iter();
    table(vec![
        column("game", each().map(|game| game.game).collect::<Vec<u64>>()),
        column("start_fen", each().map(|game| game.start_fen.as_str()).collect::<Vec<&str>>()),
        column("random_plies", each().map(|game| game.random_plies).collect::<Vec<u16>>()),
        column("imbalance", each().map(|game| game.imbalance.as_str()).collect::<Vec<&str>>()),
        column("result", each().map(|game| game.result).collect::<Vec<i8>>()),
        column("termination", each().map(|game| game.termination.as_str()).collect::<Vec<&str>>()),
        column("plies", each().map(|game| game.plies).collect::<Vec<u16>>()),
    ])
}

/// One row a position, in order of play, game after game; number and result of the game in every row.
pub(super) fn positions_table(games: &[GameRecord]) -> Result<DataFrame, Fault> {
    let each = || games.iter().flat_map(|game| game.positions.iter().map(move |position| (game, position)));
    table(vec![
        column("game", each().map(|(game, _)| game.game).collect::<Vec<u64>>()),
        column("result", each().map(|(game, _)| game.result).collect::<Vec<i8>>()),
        column("ply", each().map(|(_, position)| position.ply).collect::<Vec<u16>>()),
        column("packed", each().map(|(_, position)| position.packed.as_slice()).collect::<Vec<&[u8]>>()),
        column("move", each().map(|(_, position)| position.mv.as_str()).collect::<Vec<&str>>()),
        column("score", each().map(|(_, position)| position.score).collect::<Vec<i16>>()),
        column("nodes", each().map(|(_, position)| position.nodes).collect::<Vec<u32>>()),
        column("quiet", each().map(|(_, position)| position.quiet).collect::<Vec<bool>>()),
    ])
}

/// The games of two tables, every position with its game.
pub(super) fn games_from(games: &DataFrame, positions: &DataFrame) -> Result<Vec<GameRecord>, Fault> {
    let mut records = bare_games(games)?;
    check_games(&records)?;
    add_positions(&mut records, positions)?;
    Ok(records)
}

/// Names and types of a games table are the schema's.
pub(super) fn check_games_columns(table: &DataFrame) -> Result<(), Fault> {
    check_columns(table, &GAMES)
}

/// Names and types of a positions table are the schema's.
pub(super) fn check_positions_columns(table: &DataFrame) -> Result<(), Fault> {
    check_columns(table, &POSITIONS)
}

fn bare_games(table: &DataFrame) -> Result<Vec<GameRecord>, Fault> {
    let game = cells("game", table.column("game")?.u64()?.iter())?;
    let start_fen = cells("start_fen", table.column("start_fen")?.str()?.iter())?;
    let random_plies = cells("random_plies", table.column("random_plies")?.u16()?.iter())?;
    let imbalance = cells("imbalance", table.column("imbalance")?.str()?.iter())?;
    let result = cells("result", table.column("result")?.i8()?.iter())?;
    let termination = cells("termination", table.column("termination")?.str()?.iter())?;
    let plies = cells("plies", table.column("plies")?.u16()?.iter())?;
    let record = |row: usize| GameRecord {
        game: game[row],
        start_fen: start_fen[row].to_owned(),
        random_plies: random_plies[row],
        imbalance: imbalance[row].to_owned(),
        result: result[row],
        termination: termination[row].to_owned(),
        plies: plies[row],
        positions: Vec::new(),
    };
    Ok((0..game.len()).map(record).collect())
}

fn add_positions(games: &mut [GameRecord], table: &DataFrame) -> Result<(), Fault> {
    let owners = owners_of_positions(games, table)?;
    let ply = cells("ply", table.column("ply")?.u16()?.iter())?;
    let packed = cells("packed", table.column("packed")?.binary()?.iter())?;
    let mv = cells("move", table.column("move")?.str()?.iter())?;
    let score = cells("score", table.column("score")?.i16()?.iter())?;
    let nodes = cells("nodes", table.column("nodes")?.u32()?.iter())?;
    let quiet = cells("quiet", table.column("quiet")?.bool()?.iter())?;
    for (row, owner) in owners.into_iter().enumerate() {
        games[owner].positions.push(PositionRecord {
            ply: ply[row],
            packed: packed[row].to_vec(),
            mv: mv[row].to_owned(),
            score: score[row],
            nodes: nodes[row],
            quiet: quiet[row],
        });
    }
    Ok(())
}

/// For each row of positions, the index of its game; rows must follow the games' order.
fn owners_of_positions(games: &[GameRecord], table: &DataFrame) -> Result<Vec<usize>, Fault> {
    let numbers = cells("game", table.column("game")?.u64()?.iter())?;
    let results = cells("result", table.column("result")?.i8()?.iter())?;
    let mut owner = 0;
    let mut owners = Vec::with_capacity(numbers.len());
    for (row, (number, got)) in numbers.into_iter().zip(results).enumerate() {
        owner = owner_from(games, owner, number).ok_or_else(|| Fault::StrayPosition {
            row,
            expected: format!("{} or a later one of the shard", games[owner].game),
            got: number,
        })?;
        if games[owner].result != got {
            return Err(Fault::StrayResult { row, game: number, expected: games[owner].result, got });
        }
        owners.push(owner);
    }
    Ok(owners)
}

/// The index of game `number`, not before `owner`. The games' numbers follow one another.
fn owner_from(games: &[GameRecord], owner: usize, number: u64) -> Option<usize> {
    let ahead = number.checked_sub(games[owner].game)?;
    let index = owner.checked_add(usize::try_from(ahead).ok()?)?;
    (index < games.len()).then_some(index)
}

fn column<T, Values>(name: &str, values: Values) -> Column
where
    Values: AsRef<T>,
    T: ?Sized,
    Series: NamedFrom<Values, T>,
{
    Series::new(name.into(), values).into()
}

fn table(columns: Vec<Column>) -> Result<DataFrame, Fault> {
    Ok(DataFrame::new_infer_height(columns)?)
}

fn cells<T>(column: &'static str, cells: impl Iterator<Item = Option<T>>) -> Result<Vec<T>, Fault> {
    cells.enumerate().map(|(row, cell)| cell.ok_or(Fault::EmptyCell { column, row })).collect()
}

fn check_columns(table: &DataFrame, schema: &[(&str, DataType)]) -> Result<(), Fault> {
    let found = table.schema();
    let is_schema = found.len() == schema.len()
        && found
            .iter()
            .zip(schema)
            .all(|((name, dtype), (expected_name, expected))| name == expected_name && dtype == expected);
    if is_schema {
        return Ok(());
    }
    Err(Fault::Columns {
        expected: listed(schema.iter().map(|(name, dtype)| (*name, dtype))),
        got: listed(found.iter().map(|(name, dtype)| (name.as_str(), dtype))),
    })
}

fn listed<'columns>(columns: impl Iterator<Item = (&'columns str, &'columns DataType)>) -> String {
    columns.map(|(name, dtype)| format!("{name} {dtype}")).collect::<Vec<String>>().join(", ")
}

impl From<PolarsError> for Fault {
    fn from(error: PolarsError) -> Self {
        Self::Parquet(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::samples;

    fn tables() -> (DataFrame, DataFrame) {
        let games = samples::games(10, 6);
        (games_table(&games).unwrap(), positions_table(&games).unwrap())
    }

    fn with_column(table: &DataFrame, changed: Column) -> DataFrame {
        let mut table = table.clone();
        table.with_column(changed).unwrap();
        table
    }

    #[test]
    fn there_and_back() {
        let (games, positions) = tables();
        check_games_columns(&games).unwrap();
        check_positions_columns(&positions).unwrap();
        assert_eq!(games_from(&games, &positions).unwrap(), samples::games(10, 6));
    }

    #[test]
    fn games_of_a_shard_follow_one_another() {
        let mut games = samples::games(3, 3);
        assert_eq!(check_games(&[]), Err(Fault::Empty));
        games[1].game = 7;
        assert_eq!(check_games(&games), Err(Fault::Gap { expected: 4, got: 7 }));
        games[1].game = 3;
        assert_eq!(check_games(&games), Err(Fault::Overlap { expected: 4, got: 3 }));
        games[1].game = 4;
        games[2].result = 2;
        assert_eq!(check_games(&games), Err(Fault::Result { game: 5, got: 2 }));
    }

    #[test]
    fn stray_positions_and_results_are_refused() {
        let (games, positions) = tables();
        let rows = positions.height();
        let of_another_game = with_column(&positions, column("game", vec![16_u64; rows]));
        let fault = games_from(&games, &of_another_game).unwrap_err();
        assert!(matches!(fault, Fault::StrayPosition { row: 0, got: 16, .. }), "{fault}");
        let of_another_result = with_column(&positions, column("result", vec![1_i8; rows]));
        let fault = games_from(&games, &of_another_result).unwrap_err();
        assert!(matches!(fault, Fault::StrayResult { row: 0, game: 10, got: 1, .. }), "{fault}");
    }

    #[test]
    fn other_columns_and_empty_cells_are_refused() {
        let (games, positions) = tables();
        let mut renamed = games.clone();
        renamed.rename("plies", "length".into()).unwrap();
        assert!(check_games_columns(&renamed).unwrap_err().to_string().contains("length u16"));
        let retyped = with_column(&positions, column("score", vec![0_i32; positions.height()]));
        assert!(check_positions_columns(&retyped).unwrap_err().to_string().contains("score i32"));
        let emptied = with_column(&games, column("plies", vec![None::<u16>; games.height()]));
        let fault = games_from(&emptied, &positions).unwrap_err();
        assert_eq!(fault, Fault::EmptyCell { column: "plies", row: 0 });
    }
}
