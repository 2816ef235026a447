//! What an engine offers to set, and whether a value fits.

/// How the protocol writes an empty text.
const EMPTY: &str = "<empty>";
/// Choices and names that a message lists.
const MOST_LISTED: usize = 8;

/// An option as the engine offers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub name: String,
    pub kind: Kind,
    /// The value in force before anything is set; empty where the engine names none.
    pub default: String,
}

/// What values an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Check,
    Spin {
        least: Option<i64>,
        most: Option<i64>,
    },
    Combo {
        choices: Vec<String>,
    },
    Button,
    /// A text, also where the engine names a kind that is not in the protocol.
    Text,
}

/// Why an option was refused before it was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The engine has no such option.
    #[error("expected an option that it offers ({}), got {name:?}", listed(.offered))]
    Unknown {
        /// The name.
        name: String,
        /// The names it offers, the nearest first.
        offered: Vec<String>,
    },
    /// Names are the same in either case.
    #[error("option {0} is set twice")]
    Twice(String),
    /// The value does not fit.
    #[error("option {name}: expected {expected}, got {value:?}")]
    Value {
        /// The option.
        name: String,
        /// What it takes.
        expected: String,
        /// What was to be set.
        value: String,
    },
}

impl Offer {
    /// Whether this is the option's name; case does not matter in the protocol.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.trim())
    }

    /// The value as the engine writes it.
    ///
    /// # Errors
    /// The option does not take it.
    pub fn fit(&self, value: &str) -> Result<String, OptionError> {
        let value = value.trim();
        let fitting = match &self.kind {
            Kind::Check => ["true", "false"].into_iter().find(|word| word.eq_ignore_ascii_case(value)).map(Into::into),
            Kind::Spin { least, most } => {
                value.parse().ok().filter(|&number| within(number, *least, *most)).map(|number| number.to_string())
            }
            Kind::Combo { choices } => choices.iter().find(|choice| choice.eq_ignore_ascii_case(value)).cloned(),
            Kind::Button => value.is_empty().then(String::new),
            Kind::Text => Some(without_empty(value).to_owned()),
        };
        let refused = || OptionError::Value {
            name: self.name.clone(),
            expected: self.kind.instead_of(value),
            value: value.to_owned(),
        };
        fitting.ok_or_else(refused)
    }

    /// The line that sets it to a value that fits.
    pub fn assignment(&self, value: &str) -> String {
        match self.kind {
            Kind::Button => format!("setoption name {}", self.name),
            _ if value.is_empty() => format!("setoption name {} value {EMPTY}", self.name),
            _ => format!("setoption name {} value {value}", self.name),
        }
    }
}

fn within(number: i64, least: Option<i64>, most: Option<i64>) -> bool {
    least.is_none_or(|least| least <= number) && most.is_none_or(|most| number <= most)
}

fn without_empty(value: &str) -> &str {
    if value == EMPTY { "" } else { value }
}

impl Kind {
    /// What would do in place of a value that does not.
    fn instead_of(&self, value: &str) -> String {
        match self {
            Self::Check => "true or false".into(),
            Self::Spin { least: Some(least), most: Some(most) } => format!("a whole number from {least} to {most}"),
            Self::Spin { least: Some(least), most: None } => format!("a whole number from {least} on"),
            Self::Spin { least: None, most: Some(most) } => format!("a whole number up to {most}"),
            Self::Spin { least: None, most: None } => "a whole number".into(),
            Self::Combo { choices } => {
                format!("one of {}", listed(&nearest_first(choices.iter().map(String::as_str), value)))
            }
            Self::Button => "no value, for it is a button".into(),
            Self::Text => "a text".into(),
        }
    }
}

/// Names in one line; of very many the first.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MOST_LISTED)].join(", ");
    match names.len().saturating_sub(MOST_LISTED) {
        0 if names.is_empty() => "none".into(),
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Names with those first that are most like the one that was meant.
pub(super) fn nearest_first<'a>(names: impl Iterator<Item = &'a str>, meant: &str) -> Vec<String> {
    let mut names: Vec<String> = names.map(Into::into).collect();
    let meant = meant.to_ascii_lowercase();
    names.sort_by_cached_key(|name| strsim::osa_distance(&name.to_ascii_lowercase(), &meant));
    names
}

/// Reads what follows `option` in a line; `None` if it has no name or no type.
pub(super) fn offer(text: &str) -> Option<Offer> {
    let (name, rest) = text.trim().strip_prefix("name ")?.split_once(" type ")?;
    let (kind, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim(), ""));
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    if !matches!(kind, "check" | "spin" | "combo" | "button") {
        // A text may hold any word, so nothing but the default is looked for.
        let default = rest.trim().strip_prefix("default").unwrap_or_default().trim();
        return Some(Offer { name: name.into(), kind: Kind::Text, default: without_empty(default).into() });
    }
    let parts = parts(rest);
    let part = |wanted| parts.iter().find(|(keyword, _)| *keyword == wanted).map(|(_, value)| value.as_str());
    let number = |wanted| part(wanted).and_then(|text| text.parse().ok());
    let kind = match kind {
        "check" => Kind::Check,
        "spin" => Kind::Spin { least: number("min"), most: number("max") },
        "combo" => {
            let choices = parts.iter().filter(|(keyword, _)| *keyword == "var").map(|(_, value)| value.clone());
            Kind::Combo { choices: choices.collect() }
        }
        _ => Kind::Button,
    };
    Some(Offer { name: name.into(), kind, default: without_empty(part("default").unwrap_or_default()).into() })
}

/// Keywords with the words that follow each.
fn parts(text: &str) -> Vec<(&str, String)> {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for word in text.split_ascii_whitespace() {
        match parts.last_mut() {
            _ if matches!(word, "default" | "min" | "max" | "var") => parts.push((word, String::new())),
            Some((_, value)) if value.is_empty() => value.push_str(word),
            Some((_, value)) => {
                value.push(' ');
                value.push_str(word);
            }
            None => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str, value: &str) -> String {
        offer(line).unwrap().fit(value).unwrap_err().to_string()
    }

    fn sets(line: &str, value: &str) -> String {
        let offer = offer(line).unwrap();
        offer.assignment(&offer.fit(value).unwrap())
    }

    const HASH: &str = "name Hash type spin default 16 min 1 max 65536";
    const STYLE: &str = "name Playing Style type combo default Very Solid var Very Solid var Wild";
    const PONDER: &str = "name Ponder type check default false";
    const CLEAR: &str = "name Clear Hash type button";
    const WEIGHTS: &str = "name Weights type string default <empty>";

    #[test]
    fn offers_are_read() {
        let hash = offer(HASH).unwrap();
        assert_eq!(hash.kind, Kind::Spin { least: Some(1), most: Some(65_536) });
        assert_eq!((hash.name.as_str(), hash.default.as_str()), ("Hash", "16"));
        let style = offer(STYLE).unwrap();
        assert_eq!(style.kind, Kind::Combo { choices: vec!["Very Solid".into(), "Wild".into()] });
        assert_eq!((style.name.as_str(), style.default.as_str()), ("Playing Style", "Very Solid"));
        assert_eq!(offer(WEIGHTS).unwrap().default, "");
        assert_eq!(offer("name Book type string default var/my default.bin").unwrap().default, "var/my default.bin");
        assert_eq!(offer("name Path type filename").unwrap().kind, Kind::Text);
        for wrong in ["", "name", "name Hash", "type spin name Hash", "name  type spin"] {
            assert_eq!(offer(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn values_that_fit_are_sent_as_the_engine_writes_them() {
        assert_eq!(sets(HASH, " 64 "), "setoption name Hash value 64");
        assert_eq!(sets(STYLE, "very solid"), "setoption name Playing Style value Very Solid");
        assert_eq!(sets(PONDER, "TRUE"), "setoption name Ponder value true");
        assert_eq!(sets(CLEAR, ""), "setoption name Clear Hash");
        assert_eq!(sets(WEIGHTS, "a b.toml"), "setoption name Weights value a b.toml");
        assert_eq!(sets(WEIGHTS, ""), "setoption name Weights value <empty>");
    }

    #[test]
    fn values_that_do_not_fit_say_what_would() {
        for (line, value, words) in [
            (HASH, "0", "option Hash: expected a whole number from 1 to 65536, got \"0\""),
            (HASH, "many", "got \"many\""),
            (HASH, "", "got \"\""),
            (STYLE, "tame", "expected one of Wild, Very Solid, got \"tame\""),
            (PONDER, "yes", "expected true or false, got \"yes\""),
            (CLEAR, "true", "expected no value, for it is a button, got \"true\""),
        ] {
            let message = refused(line, value);
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let names = ["UCI_Variant", "Hash", "Threads"];
        assert_eq!(nearest_first(names.into_iter(), "hsah")[0], "Hash");
        assert_eq!(listed(&[]), "none");
        let many: Vec<String> = (0..30).map(|number| number.to_string()).collect();
        assert!(listed(&many).ends_with("6, 7 and 22 more"), "{}", listed(&many));
    }
}
