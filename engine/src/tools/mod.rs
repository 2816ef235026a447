//! What the engine's program does besides playing: measure itself, list its numbers, describe its command line to shells and readers.

pub mod bench;
pub mod manual;
pub mod params;
