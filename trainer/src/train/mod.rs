//! Training of evaluation networks from recorded games.

pub mod batch;
pub mod kernels;
pub mod operation;
pub mod plain;
pub mod synthetic;
