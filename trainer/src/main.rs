//! The `fairyforge` command.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Training asks for large buffers again and again; the system's allocator gives each back and fetches it page by page.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    fairyforge::cli::main()
}
