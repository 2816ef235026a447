//! The `fairyforge` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    fairyforge::cli::main()
}
