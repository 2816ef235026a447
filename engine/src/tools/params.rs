//! The search's numbers as a list, for people and for tuners.

use crate::search::Params;
use crate::search::params::Param;
use crate::table::aligned;

/// The whole table as aligned text: name, default, least, greatest, step, sentence.
pub fn text() -> String {
    let heading = ["name", "default", "min", "max", "step", "what it does"].map(String::from).to_vec();
    let row = |param: &Param| {
        let numbers = [param.default, param.min, param.max, param.step].map(|number| number.to_string());
        std::iter::once(param.name.into()).chain(numbers).chain([param.about.into()]).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(Params::TABLE.iter().map(row)).collect();
    aligned(&rows)
}

/// What the file of the defaults says of itself.
const ABOUT: &str = "The defaults: a file to start from. Any of the lines may be left out.";

/// The defaults as a search file, with the sentence and range of every number.
pub fn toml() -> String {
    Params::default().to_toml(ABOUT)
}

/// The whole table as JSON: an array of objects with keys `name`, `default`, `min`, `max`, `step`, `about`, `source`.
pub fn json() -> serde_json::Value {
    let object = |param: &Param| {
        serde_json::json!({
            "name": param.name, "default": param.default, "min": param.min, "max": param.max, "step": param.step,
            "about": param.about, "source": param.source,
        })
    };
    Params::TABLE.iter().map(object).collect()
}
