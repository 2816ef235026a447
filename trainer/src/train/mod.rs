//! Training of evaluation networks from recorded games.

pub mod batch;
pub mod kernels;
pub mod synthetic;
