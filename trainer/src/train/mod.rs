//! Training of evaluation networks from recorded games.

pub mod batch;
pub mod kernels;
pub mod model;
pub mod operation;
pub mod optimiser;
pub mod plain;
pub mod synthetic;
