//! Tables of text with aligned columns, for the screen and for Markdown. Knows nothing of what is in them.

use std::fmt::Write;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Columns two spaces apart.
    Plain,
    /// With the bars of Markdown.
    Markdown,
}

/// A heading and rows of as many cells.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows yet.
    pub fn new<T: ToString>(headings: &[T]) -> Self {
        Self { rows: vec![headings.iter().map(ToString::to_string).collect()] }
    }

    /// One more row. Missing cells are empty, further ones are left out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().collect();
        row.resize(self.rows[0].len(), String::new());
        self.rows.push(row);
    }

    /// The table as text, a line a row.
    #[must_use]
    pub fn in_style(&self, style: Style) -> String {
        let width = |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells = row.iter().enumerate().map(|(column, cell)| self.padded(column, cell, widths[column]));
            let cells: Vec<String> = cells.collect();
            let _ = match style {
                Style::Plain => writeln!(text, "{}", cells.join("  ").trim_end()),
                Style::Markdown => writeln!(text, "| {} |", cells.join(" | ")),
            };
            if index == 0 && style == Style::Markdown {
                let rule = |(column, &width): (usize, &usize)| {
                    if self.is_number(column) { format!("{}:", "-".repeat(width + 1)) } else { "-".repeat(width + 2) }
                };
                let rules: Vec<String> = widths.iter().enumerate().map(rule).collect();
                let _ = writeln!(text, "|{}|", rules.join("|"));
            }
        }
        text
    }

    fn padded(&self, column: usize, cell: &str, width: usize) -> String {
        if self.is_number(column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
    }

    /// Columns of numbers end together, others begin together.
    fn is_number(&self, column: usize) -> bool {
        let is_number = |cell: &String| cell.parse::<f64>().is_ok();
        let missing = |cell: &String| cell.is_empty() || cell == "–";
        let mut cells = self.rows[1..].iter().map(|row| &row[column]);
        cells.clone().any(is_number) && cells.all(|cell| is_number(cell) || missing(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["unit", "pawns", "said"]);
        table.row(["rook", "5.00", "yes"].map(String::from));
        table.row(["queen", "10.25"].map(String::from));
        table
    }

    #[test]
    fn numbers_end_and_words_begin_together() {
        assert_eq!(table().in_style(Style::Plain), "unit   pawns  said\nrook    5.00  yes\nqueen  10.25\n");
        let markdown =
            "| unit  | pawns | said |\n|-------|------:|------|\n| rook  |  5.00 | yes  |\n| queen | 10.25 |      |\n";
        assert_eq!(table().in_style(Style::Markdown), markdown);
    }
}
