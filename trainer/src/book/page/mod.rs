//! Books as one HTML page to click through: it fetches nothing, and knows no rules.
//!
//! What the page shows is made in `data.rs`: for every root where the men stand, and for every move what it changes on the board, so
//! that a position needs no more than its moves. `choice.rs` says which positions are shown when there are too many. Template, style and
//! script lie beside; men look as in [`fairyforge_engine::drawing`].

mod choice;
mod data;

use choice::Choice;
use fairyforge_engine::book::{Book, Header};
use fairyforge_engine::drawing::man_seen_from;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use minijinja::{Environment, context};
use serde::Serialize;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Positions that a page shows if nobody says otherwise: some megabytes, which browsers open at once.
pub const MOST_POSITIONS: usize = 20_000;

/// A page, and what is on it.
#[derive(Clone, Debug)]
pub struct Page {
    /// The whole file.
    pub html: String,
    /// Positions that are shown.
    pub positions: usize,
    /// Positions that were met behind these and are not shown. There may be more behind them.
    pub left_out: usize,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Nothing to begin with.
    #[error("expected a book with a root, got none")]
    NoRoot,
    /// The data cannot be written.
    #[error("cannot write the page's data: {0}")]
    Data(#[from] serde_json::Error),
    /// The template does not fit what is put in.
    #[error("cannot fill the page: {0}")]
    Template(#[from] minijinja::Error),
}

/// A man of one colour as a board with one side below shows it.
#[derive(Serialize)]
struct ManDrawing {
    id: String,
    svg: String,
}

/// A line of what the book says of itself.
#[derive(Serialize)]
struct Fact {
    name: &'static str,
    told: String,
}

/// The page of a book whose moves are legal, with its `most` likeliest positions.
///
/// # Errors
/// The book has no root, or the template does not fit what is put in.
pub fn page(book: &Book, most: usize) -> Result<Page, PageError> {
    let variant = book.roots().first().ok_or(PageError::NoRoot)?.variant();
    let choice = Choice::of(book, most);
    let data = data::Data::of(book, &choice, variant);
    let roots: Vec<String> = book.roots().iter().map(|root| root.fen()).collect();
    let header = book.header();
    let mut environment = Environment::new();
    // The name's ending turns the escaping of HTML on.
    environment.add_template("page.html", TEMPLATE)?;
    let html = environment.get_template("page.html")?.render(context! {
        title => variant.rules().title,
        summary => format!("{} positions and {} moves of {}", header.positions, header.moves, header.variant),
        men => drawings(variant),
        roots => roots,
        has_results => data.has_results,
        positions => choice.len(),
        left_out => choice.left_out,
        facts => facts(header),
        plan => header.manifest.plan,
        data => in_script(&serde_json::to_string(&data)?),
        style => STYLE,
        script => SCRIPT,
    })?;
    Ok(Page { html, positions: choice.len(), left_out: choice.left_out })
}

/// JSON as it may stand in a script: no tag can end or begin in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// All men, from both sides of the board; names end in `t` on the turned board.
fn drawings(variant: &Variant) -> Vec<ManDrawing> {
    let men = variant.units().flat_map(|unit| Colour::BOTH.map(|colour| (unit, colour)));
    men.flat_map(|(unit, colour)| {
        [(Colour::White, ""), (Colour::Black, "t")].map(|(below, turned)| ManDrawing {
            id: format!("m{}{turned}", data::man(unit, colour)),
            svg: man_seen_from(variant, unit, colour, below),
        })
    })
    .collect()
}

/// What the book says of itself, with what is known.
fn facts(header: &Header) -> Vec<Fact> {
    let manifest = &header.manifest;
    let limits = manifest.limits.map(|limits| {
        let (nodes, table) = (limits.nodes, limits.table_mebibytes);
        format!("{nodes} nodes a search, with a table of {table} MiB that is empty at first")
    });
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let counted = |count: u64| (count > 0).then(|| count.to_string());
    let facts = [
        ("Variant", known(&header.variant)),
        ("Rules", known(&header.rules_hash)),
        ("Method", known(&manifest.method)),
        ("Program", known(&manifest.program).map(|version| format!("fairyforge {version}"))),
        ("Judge", known(&manifest.judge)),
        ("Limits", limits),
        ("Searches", counted(manifest.searches)),
        ("Nodes in all", counted(manifest.nodes)),
        ("Games counted", counted(manifest.games)),
        ("Seed", manifest.seed.map(|seed| seed.to_string())),
        ("Positions", Some(header.positions.to_string())),
        ("Moves", Some(header.moves.to_string())),
    ];
    facts.into_iter().filter_map(|(name, told)| told.map(|told| Fact { name, told })).collect()
}
