//! What the engine's program does besides playing: measure itself and list its numbers.

pub mod bench;
pub mod params;
