//! Tables for the screen: columns wide enough for what is in them.

/// Rows of cells as aligned lines: numbers to the right, words to the left. The first row is the heading.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let is_number = |cell: &str| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    let right: Vec<bool> = (0..columns)
        .map(|column| rows.iter().skip(1).filter_map(|row| row.get(column)).all(|cell| is_number(cell)))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(widths.iter().zip(&right)).map(|(cell, (&width, &right))| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn aligns() {
        let rows = [["name", "value"], ["a", "5"], ["long name", "-120"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(super::aligned(&rows), "name       value\na              5\nlong name   -120");
    }
}
