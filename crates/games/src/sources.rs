//! The source text of the games' rules, which is used to compare games with each other. Files with
//! levels, drawing code or tests contain no rules and are omitted.

/// Returns the rule files of a game other than its main file.
pub(crate) fn further_sources(id: &str) -> &'static [&'static str] {
    match id {
        "kq19-v1" => &[include_str!("kq19/heap.rs")],
        "ny40-v1" => &[include_str!("ny40/flight.rs")],
        "ym39-v1" => &[include_str!("ym39/herd.rs")],
        "bx20-v1" => &[include_str!("bx20/board.rs")],
        "hk26-v1" => &[include_str!("hk26/wants.rs")],
        "pz19-v1" => &[
            include_str!("pz19/paper.rs"),
            include_str!("pz19/search.rs"),
            include_str!("pz19/sheet.rs"),
        ],
        "mf73-v1" => &[include_str!("mf73/settle.rs")],
        "xe92-v1" => &[include_str!("xe92/crystal.rs")],
        "xd08-v1" => &[include_str!("xd08/tower.rs")],
        "iv71-v1" => &[include_str!("iv71/habit.rs")],
        "gr45-v1" => &[include_str!("gr45/minds.rs")],
        "zc67-v1" => &[include_str!("zc67/crew.rs")],
        "fm36-v1" => &[include_str!("fm36/breath.rs")],
        "zg58-v1" => &[include_str!("zg58/band.rs")],
        "ur63-v1" => &[include_str!("ur63/beat.rs")],
        _ => &[],
    }
}
