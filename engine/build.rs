//! Lists the files that are built into the program: every variant of `configs/variants`, every weights file of
//! `data/weights` and every network of `data/nets`. Adding a file is enough to ship it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for Shipped { folder, extension, include, table } in SHIPPED {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        fs::write(out.join(table), table_of(&folder, extension, include)?)?;
    }
    Ok(())
}

/// A folder whose files are built in.
struct Shipped {
    folder: &'static str,
    extension: &'static str,
    /// The macro that reads one of them.
    include: &'static str,
    /// The list that is made.
    table: &'static str,
}

const SHIPPED: [Shipped; 3] = [
    Shipped { folder: "configs/variants", extension: "toml", include: "include_str", table: "variants.rs" },
    Shipped { folder: "data/weights", extension: "toml", include: "include_str", table: "weights.rs" },
    Shipped { folder: "data/nets", extension: "net", include: "include_bytes", table: "networks.rs" },
];

/// A Rust slice of (stem, content) pairs, sorted by stem.
fn table_of(folder: &Path, wanted: &str, include: &str) -> io::Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == wanted) {
            files.push(path.canonicalize()?);
        }
    }
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.sort_by_key(|path| stem(path));
    let rows = files.iter().map(|path| format!("    ({:?}, {include}!({path:?})),\n", stem(path)));
    Ok(format!("&[\n{}]\n", rows.collect::<String>()))
}
