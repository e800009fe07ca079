//! The scores of four systems on eight environments, in points, for which exact results are known.

pub(crate) const A: [f64; 8] = [12.0, 4.0, 30.0, 5.0, 0.0, 44.0, 7.0, 0.0];
pub(crate) const B: [f64; 8] = [10.0, 0.0, 21.0, 5.0, 3.0, 20.0, 0.0, 0.0];
pub(crate) const C: [f64; 8] = [9.0, 0.0, 20.0, 5.0, 3.0, 22.0, 0.0, 0.0];
pub(crate) const D: [f64; 8] = [1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0];
