//! Reports as one HTML page that needs nothing else: the words and tables of `report.md`, with figures.

use super::claims_report::ClaimsReport;
use super::figures::{FigureError, figures};
use super::report::{LaboratoryReport, Section};
use crate::claims::ClaimVerdict;
use crate::table::Table;
use minijinja::{Environment, context};
use serde::Serialize;

/// The page, with places for what is put in.
const TEMPLATE: &str = include_str!("page.html");

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A figure cannot be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The template does not fit what is put in.
    #[error("cannot fill the page: {0}")]
    Template(#[from] minijinja::Error),
}

/// A table as the template takes it.
#[derive(Serialize)]
struct PageSection {
    title: String,
    words: String,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A figure as the template takes it.
#[derive(Serialize)]
struct PageFigure {
    title: &'static str,
    caption: &'static str,
    svg: String,
}

/// What the template is filled with.
#[derive(Serialize, Default)]
struct Page<'a> {
    title: String,
    headline: String,
    /// The summary of claims, and each of them.
    summary: Option<PageSection>,
    claims: &'a [ClaimVerdict],
    figures: Vec<PageFigure>,
    sections: Vec<PageSection>,
    remarks: Vec<String>,
    commands: Vec<String>,
    provenance: String,
}

impl PageSection {
    fn new(title: &str, words: String, table: &Table) -> Self {
        let (headings, rows) =
            table.rows().split_first().map_or((Vec::new(), Vec::new()), |(first, rest)| (first.clone(), rest.to_vec()));
        Self { title: title.to_owned(), words, headings, rows }
    }
}

impl LaboratoryReport<'_> {
    /// For `report.html`.
    ///
    /// # Errors
    /// A figure cannot be drawn.
    pub fn page(&self) -> Result<String, PageError> {
        let title = format!("{}: what the units are worth", self.variant.rules().title);
        Page { title, commands: vec![self.command.to_owned()], ..self.experiment()? }.fill()
    }

    /// What an experiment puts on a page, whatever else is there.
    fn experiment(&self) -> Result<Page<'static>, PageError> {
        let figures = figures(self.findings, self.plan)?.into_iter();
        // Stars are emphasis in Markdown alone.
        let section =
            |section: Section| PageSection::new(section.title, section.words.replace('*', ""), &section.table);
        Ok(Page {
            headline: self.headline(),
            figures: figures
                .map(|figure| PageFigure { title: figure.title, caption: figure.caption, svg: figure.svg })
                .collect(),
            sections: self.sections().into_iter().map(section).collect(),
            remarks: self.remarks(),
            provenance: self.provenance(),
            ..Page::default()
        })
    }
}

impl ClaimsReport<'_> {
    /// For `report.html`.
    ///
    /// # Errors
    /// A figure cannot be drawn.
    pub fn page(&self) -> Result<String, PageError> {
        let experiment = match &self.laboratory {
            Some(laboratory) => laboratory.experiment()?,
            None => Page { provenance: self.provenance(), ..Page::default() },
        };
        Page {
            title: self.title(),
            summary: Some(PageSection::new("Verdicts", super::claims_report::READING.to_owned(), &self.summary())),
            claims: &self.verdicts.claims,
            commands: vec![self.verdicts.command.clone()],
            ..experiment
        }
        .fill()
    }
}

impl Page<'_> {
    fn fill(&self) -> Result<String, PageError> {
        let mut environment = Environment::new();
        // The name's ending turns the escaping of HTML on.
        environment.add_template("page.html", TEMPLATE)?;
        Ok(environment.get_template("page.html")?.render(context! { page => self })?)
    }
}
