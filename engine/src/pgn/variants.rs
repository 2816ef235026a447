//! Which game a PGN file's `[Variant "…"]` means.

use super::xboard_names::unmistakable;
use crate::variant::{Variant, file};
use std::collections::HashMap;
use std::sync::Arc;

/// Names that programs give to whatever is not a variant; they mean the default.
const ORDINARY: [&str; 4] = ["standard", "normal", "from position", "?"];

/// Letters of a name that are enough if only one name begins with them.
const LEAST_OF_NAME: usize = 8;

/// The shipped games and a default, by name or title in any case. Each is compiled once.
pub struct NamedVariants {
    default: Arc<Variant>,
    known: HashMap<String, Arc<Variant>>,
    /// All shipped games, once somebody has named one by no name of theirs: titles stand in compiled games only.
    titled: Option<Vec<Arc<Variant>>>,
}

impl NamedVariants {
    /// The shipped games; games without a tag are `default`, which is also known by its name.
    pub fn new(default: Arc<Variant>) -> Self {
        Self { default, known: HashMap::new(), titled: None }
    }

    /// The variant with the tag's value as name or title; without a tag the default.
    ///
    /// # Errors
    /// Nothing is called so: the reason names the nearest that is known.
    pub fn find(&mut self, tag: Option<&str>) -> Result<Arc<Variant>, String> {
        let Some(tag) = tag.map(str::trim) else { return Ok(Arc::clone(&self.default)) };
        let wanted = tag.to_lowercase();
        if ORDINARY.contains(&wanted.as_str()) || wanted.is_empty() || is_called(&self.default, &wanted) {
            return Ok(Arc::clone(&self.default));
        }
        if let Some(variant) = self.known.get(&wanted) {
            return Ok(Arc::clone(variant));
        }
        let variant = match shipped(&wanted) {
            Some(name) => loaded(name)?,
            None => self.titled(&wanted)?,
        };
        self.known.insert(wanted, Arc::clone(&variant));
        Ok(variant)
    }

    fn titled(&mut self, wanted: &str) -> Result<Arc<Variant>, String> {
        if self.titled.is_none() {
            self.titled = Some(Variant::shipped_names().map(loaded).collect::<Result<_, _>>()?);
        }
        let called = self.titled.iter().flatten().find(|variant| is_called(variant, wanted));
        called.map(Arc::clone).ok_or_else(|| {
            let nearest = file::nearest(wanted, Variant::shipped_names()).unwrap_or_default();
            format!("expected the name or title of a shipped game, or of the one given; the nearest is {nearest:?}")
        })
    }
}

fn is_called(variant: &Variant, wanted: &str) -> bool {
    [variant.name(), &variant.rules().title].iter().any(|name| name.to_lowercase() == wanted)
}

fn loaded(name: &str) -> Result<Arc<Variant>, String> {
    Variant::load(name).map(Arc::new).map_err(|error| error.to_string())
}

/// The shipped game of a name. Names cost nothing to compare.
fn shipped(wanted: &str) -> Option<&'static str> {
    if let Some(name) = Variant::shipped_names().find(|name| name.to_lowercase() == wanted) {
        return Some(name);
    }
    // XBoard cannot be told names that hold the name of a game of its own, so an engine cuts them short.
    let mut begun = Variant::shipped_names().filter(|name| wanted.len() >= LEAST_OF_NAME && name.starts_with(wanted));
    if let (Some(name), None) = (begun.next(), begun.next()) {
        return Some(name);
    }
    Variant::shipped_names().find(|name| unmistakable(name) == wanted)
}
