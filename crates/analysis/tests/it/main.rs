//! Comparisons of real runs against computations of their own.

mod runs;
