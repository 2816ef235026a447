//! Lists the files that are built into the program: every variant of `configs/variants` and every weights file of
//! `data/weights`. Adding a file is enough to ship it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for (folder, table) in [("configs/variants", "variants.rs"), ("data/weights", "weights.rs")] {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        fs::write(out.join(table), table_of(&folder)?)?;
    }
    Ok(())
}

/// A Rust slice of (stem, text) pairs, sorted by stem.
fn table_of(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path.canonicalize()?);
        }
    }
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files.sort_by_key(|path| stem(path));
    let rows = files.iter().map(|path| format!("    ({:?}, include_str!({path:?})),\n", stem(path)));
    Ok(format!("&[\n{}]\n", rows.collect::<String>()))
}
