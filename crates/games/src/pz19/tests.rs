//! x
use super::levels::{self, PLANS, yields};

#[test]
fn scratch() {
    for index in 0..PLANS.len() {
        for seed in 0..14 {
            println!("L{} {seed}", index + 1);
            levels::show(&levels::sheet(rhae_engine::LevelIndex(index as u8), seed));
        }
    }
}
