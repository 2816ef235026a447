//! Plans as runs record them, and what tells two of them apart.
//!
//! A recorded plan may be older than the program. A key that it lacks is read as today's types read it: with its default, which is how
//! the older version did without it (`docs/formats/README.md`). Knows no plan itself: whoever opens a run brings the type.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A plan that is to be recorded, and how an older record of it is read.
#[derive(Clone, Debug)]
pub struct PlanText {
    text: String,
    reread: fn(&str) -> Option<String>,
}

impl PlanText {
    /// The plan as TOML. A record of it that lacks keys is read as a `P`.
    ///
    /// # Errors
    /// The plan cannot be written as TOML.
    pub fn of<P: Serialize + DeserializeOwned>(plan: &P) -> Result<Self, toml::ser::Error> {
        Ok(Self { text: toml::to_string(plan)?, reread: reread::<P> })
    }

    /// The TOML.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every key on which a recorded plan and this one disagree. Comments, order and spacing do not matter, nor does a key that the
    /// record lacks and that has its default here.
    pub(super) fn differences(&self, recorded: &str) -> Vec<PlanDifference> {
        if recorded == self.text {
            return Vec::new();
        }
        let asked = flattened(&self.text);
        let recorded = self.completed(recorded);
        let keys: BTreeSet<&String> = recorded.keys().chain(asked.keys()).collect();
        keys.into_iter()
            .filter(|key| recorded.get(*key) != asked.get(*key))
            .map(|key| PlanDifference {
                key: key.clone(),
                recorded: recorded.get(key).cloned(),
                asked: asked.get(key).cloned(),
            })
            .collect()
    }

    /// The keys of a recorded plan, and those that reading it fills in. None is lost that today's types do not know.
    fn completed(&self, recorded: &str) -> BTreeMap<String, String> {
        let mut values = flattened(recorded);
        let filled_in = (self.reread)(recorded).map(|text| flattened(&text)).unwrap_or_default();
        for (key, value) in filled_in {
            values.entry(key).or_insert(value);
        }
        values
    }
}

/// A text that is compared as it stands.
impl From<&str> for PlanText {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), reread: |_| None }
    }
}

/// A recorded plan with its defaults written out; nothing if it is no `P`.
fn reread<P: Serialize + DeserializeOwned>(recorded: &str) -> Option<String> {
    let plan: P = toml::from_str(recorded).ok()?;
    toml::to_string(&plan).ok()
}

/// A key on which the recorded and the asked plan disagree, with both values in TOML's notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// The dotted key, for example `selfplay.games`; `players[0].name` in a list of tables.
    pub key: String,
    /// The recorded value, if there is one.
    pub recorded: Option<String>,
    /// The value now asked for, if there is one.
    pub asked: Option<String>,
}

impl PlanDifference {
    pub(super) fn has_grown(&self) -> bool {
        let number = |value: &Option<String>| value.as_ref()?.parse::<u64>().ok();
        matches!((number(&self.recorded), number(&self.asked)), (Some(recorded), Some(asked)) if asked > recorded)
    }
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (recorded, asked) = (or_nothing(&self.recorded), or_nothing(&self.asked));
        write!(formatter, "{}: recorded {recorded}, asked for {asked}", self.key)
    }
}

/// Dotted key → value. A text that is no TOML is one value, so that it equals only itself.
fn flattened(plan: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    match plan.parse::<toml::Table>() {
        Ok(table) => flatten_table("", &table, &mut values),
        Err(_) => {
            values.insert("(not TOML)".to_owned(), format!("{plan:?}"));
        }
    }
    values
}

fn flatten_table(prefix: &str, table: &toml::Table, values: &mut BTreeMap<String, String>) {
    for (key, value) in table {
        flatten(format!("{prefix}{key}"), value, values);
    }
}

fn flatten(key: String, value: &toml::Value, values: &mut BTreeMap<String, String>) {
    match value {
        toml::Value::Table(inner) if !inner.is_empty() => flatten_table(&format!("{key}."), inner, values),
        toml::Value::Array(list) if !list.is_empty() && list.iter().all(toml::Value::is_table) => {
            for (place, entry) in list.iter().enumerate() {
                flatten(format!("{key}[{place}]"), entry, values);
            }
        }
        leaf => {
            values.insert(key, leaf.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Today's plan; the older version knew neither `mirror` nor the weight of a player.
    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Today {
        seed: u64,
        #[serde(default)]
        sharing: Sharing,
        #[serde(default)]
        players: Vec<Player>,
    }

    #[derive(Default, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Sharing {
        ranks: bool,
        files: u32,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Player {
        name: String,
        #[serde(default)]
        weight: u32,
    }

    const RECORDED: &str = "seed = 7\n[[players]]\nname = \"new\"\n";

    fn differences(recorded: &str, asked: &Today) -> Vec<String> {
        let asked = PlanText::of(asked).unwrap();
        asked.differences(recorded).iter().map(ToString::to_string).collect()
    }

    fn today() -> Today {
        let players = vec![Player { name: "new".into(), weight: 0 }];
        Today { seed: 7, sharing: Sharing::default(), players }
    }

    #[test]
    fn a_key_that_the_record_lacks_has_its_default() {
        assert_eq!(differences(RECORDED, &today()), [""; 0]);
    }

    #[test]
    fn a_key_that_the_record_lacks_and_that_is_no_default_is_a_difference() {
        let sharing = Sharing { ranks: true, files: 0 };
        assert_eq!(
            differences(RECORDED, &Today { sharing, ..today() }),
            ["sharing.ranks: recorded false, asked for true"]
        );
        let players = vec![Player { name: "new".into(), weight: 3 }];
        assert_eq!(
            differences(RECORDED, &Today { players, ..today() }),
            ["players[0].weight: recorded 0, asked for 3"]
        );
    }

    #[test]
    fn a_key_of_the_record_that_today_does_not_know_is_named() {
        let newer = RECORDED.replace("seed = 7\n", "seed = 7\nhaste = true\n");
        let told = differences(&newer, &today());
        assert!(told.contains(&"haste: recorded true, asked for nothing".into()), "{told:?}");
    }

    /// Types that let unknown keys pass must not make them vanish.
    #[test]
    fn an_unknown_key_is_named_by_lenient_types_too() {
        #[derive(Serialize, Deserialize)]
        struct Lenient {
            seed: u64,
        }
        let asked = PlanText::of(&Lenient { seed: 7 }).unwrap();
        let told = asked.differences("seed = 7\nhaste = true\n");
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].to_string(), "haste: recorded true, asked for nothing");
    }

    #[test]
    fn what_is_no_plan_differs_from_every_plan() {
        assert!(!differences("seed = ", &today()).is_empty());
        assert!(!differences("", &today()).is_empty());
    }
}
