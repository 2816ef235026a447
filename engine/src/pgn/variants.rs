//! Which game a PGN file's `[Variant "…"]` means.

use crate::variant::{Variant, file};
use std::collections::HashMap;
use std::sync::Arc;

/// Names that programs give to whatever is not a variant; they mean the default.
const ORDINARY: [&str; 4] = ["standard", "normal", "from position", "?"];

/// The shipped games and a default, by name or title in any case. Each is compiled once.
pub struct NamedVariants {
    default: Arc<Variant>,
    known: HashMap<String, Arc<Variant>>,
}

impl NamedVariants {
    /// The shipped games; games without a tag are `default`, which is also known by its name.
    pub fn new(default: Arc<Variant>) -> Self {
        Self { default, known: HashMap::new() }
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
        let variant = shipped(&wanted)?;
        self.known.insert(wanted, Arc::clone(&variant));
        Ok(variant)
    }
}

fn is_called(variant: &Variant, wanted: &str) -> bool {
    [variant.name(), &variant.rules().title].iter().any(|name| name.to_lowercase() == wanted)
}

/// Names first: they cost nothing to compare.
fn shipped(wanted: &str) -> Result<Arc<Variant>, String> {
    let load = |name: &str| Variant::load(name).map(Arc::new).map_err(|error| error.to_string());
    if let Some(name) = Variant::shipped_names().find(|name| name.to_lowercase() == wanted) {
        return load(name);
    }
    for name in Variant::shipped_names() {
        let variant = load(name)?;
        if is_called(&variant, wanted) {
            return Ok(variant);
        }
    }
    let nearest = file::nearest(wanted, Variant::shipped_names()).unwrap_or_default();
    Err(format!("expected the name or title of a shipped game, or of the one given; the nearest is {nearest:?}"))
}
