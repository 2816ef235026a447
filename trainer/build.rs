//! Notes the commit the program is built from, so that runs can say which code made them.

use std::process::Command;

fn main() {
    for path in ["src", "../engine/src", "../.git/HEAD", "../.git/logs/HEAD"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rustc-env=FAIRYFORGE_COMMIT={}", commit().unwrap_or_else(|| "unknown commit".into()));
}

/// The commit, marked when the working tree differs from it; `None` outside a checkout.
fn commit() -> Option<String> {
    let hash = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { format!("{hash} with changes") } else { hash })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
