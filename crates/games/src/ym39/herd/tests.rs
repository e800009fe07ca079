use super::reference::Scene;
use super::*;

const GAZES: [Gaze; 5] = [Gaze::Up, Gaze::Right, Gaze::Down, Gaze::Left, Gaze::Asleep];

fn creature_at(herd: &Herd, cell: Cell) -> Option<usize> {
    let there = herd.creatures_at(cell);
    (there != 0).then(|| first_of(there))
}

/// Executes a call with the packed form of the rules.
fn packed_call(land: &Land, herd: &Herd, cell: Cell) -> Herd {
    let call = Call::new(land, herd, cell);
    if call.called == 0 {
        return *herd;
    }
    let responses = respond(land, herd, &call, false);
    assert!(!call.is_idle() || responses.is_empty());
    let mut after = responses.arrived;
    if call.turning != 0 {
        turn(&mut after, call.turning);
    }
    wake(&mut after, &responses);
    after
}

#[test]
fn packed_rules_agree_with_the_reference() {
    const KINDS: [Kind; 5] = [
        Kind::Plain,
        Kind::First,
        Kind::Second,
        Kind::Shy,
        Kind::Restless,
    ];
    let mut rng = rhae_engine::Rng::new(11, 0);
    let mut changed = 0;
    for _ in 0..1_000 {
        let count = rng.below(MAX_CREATURES as u32 + 1) as usize;
        let mut land: Vec<Cell> = all_cells().collect();
        rng.shuffle(&mut land);
        let (mut rocks, mut water) = ([false; 256], [false; 256]);
        for &cell in &land[count..count + 6] {
            rocks[usize::from(cell)] = rng.below(2) == 0;
            water[usize::from(cell)] = !rocks[usize::from(cell)];
        }
        let mut kinds = [Kind::Plain; MAX_CREATURES];
        let mut herd = Herd::EMPTY;
        for (index, &cell) in land[..count].iter().enumerate() {
            kinds[index] = KINDS[rng.below(5) as usize];
            let gaze = GAZES[rng.below(5) as usize];
            herd.set(index, Creature { cell, gaze });
        }
        let packed = Land::new(&rocks, &water, kinds, count);
        let scene = Scene {
            rocks,
            water,
            kinds: kinds[..count].to_vec(),
            creatures: herd.first(count).collect(),
        };
        for cell in all_cells() {
            let after: Vec<Creature> = packed_call(&packed, &herd, cell).first(count).collect();
            assert_eq!(after, scene.after_call(cell), "{scene:?} {cell:x}");
            changed += u32::from(after != scene.creatures);
        }
    }
    assert!(changed > 1_000, "{changed}");
}

/// Calls a creature in a row of cells, written as in the level maps, and returns the row after the
/// call.
fn after_call(row: &str, called: usize) -> String {
    let (mut rocks, mut water) = ([false; 256], [false; 256]);
    let mut kinds = [Kind::Plain; MAX_CREATURES];
    let mut herd = Herd::EMPTY;
    let mut count = 0;
    for (cell, word) in (0_u8..).zip(row.split(' ')) {
        match word.as_bytes() {
            b".." => {}
            b"##" => rocks[usize::from(cell)] = true,
            b"~~" => water[usize::from(cell)] = true,
            &[letter, sign] => {
                kinds[count] = if letter == b's' {
                    Kind::Shy
                } else if letter == b'r' {
                    Kind::Restless
                } else {
                    Kind::Plain
                };
                let gaze = b"^>v<z".iter().position(|&known| known == sign).unwrap();
                herd.set(
                    count,
                    Creature {
                        cell,
                        gaze: GAZES[gaze],
                    },
                );
                count += 1;
            }
            _ => panic!("{word}"),
        }
    }
    let land = Land::new(&rocks, &water, kinds, count);
    let cell = herd.get(called).cell;
    herd = packed_call(&land, &herd, cell);
    let shown = |cell: u8| match creature_at(&herd, cell) {
        Some(index) => format!(
            "{}{}",
            ["p", "a", "b", "s", "r"][kinds[index] as usize],
            ["^", ">", "v", "<", "z"][herd.get(index).gaze as usize]
        ),
        None => if rocks[usize::from(cell)] {
            "##"
        } else if water[usize::from(cell)] {
            "~~"
        } else {
            ".."
        }
        .to_owned(),
    };
    (0..SIDE).map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn set_operations_agree_with_per_creature_checks() {
    let mut rng = rhae_engine::Rng::new(7, 0);
    let land: Vec<Cell> = all_cells().collect();
    let bare = Land::new(
        &[false; 256],
        &[false; 256],
        [Kind::Plain; MAX_CREATURES],
        MAX_CREATURES,
    );
    for _ in 0..2_000 {
        let mut herd = Herd::EMPTY;
        let count = rng.below(MAX_CREATURES as u32 + 1) as usize;
        for index in 0..count {
            let free: Vec<Cell> = land
                .iter()
                .copied()
                .filter(|&cell| herd.creatures_at(cell) == 0)
                .collect();
            herd.set(
                index,
                Creature {
                    cell: free[rng.below(free.len() as u32) as usize],
                    gaze: GAZES[rng.below(5) as usize],
                },
            );
        }
        for &cell in &land {
            let at = |cell: Cell| (0..count).find(|&index| herd.get(index).cell == cell);
            assert_eq!(creature_at(&herd, cell), at(cell), "{herd:?} {cell:x}");
            for direction in Gaze::DIRECTIONS {
                let some = herd.ahead(cell, direction.byte());
                let line = || {
                    (1..)
                        .map(|steps| (direction.from(cell, steps), steps))
                        .take_while(|&(next, _)| is_land(next))
                };
                let ahead = line()
                    .filter_map(|(next, _)| at(next))
                    .fold(0, |some, index| some | 0x80 << (8 * index));
                assert_eq!(some, ahead, "{herd:?} {cell:x} {direction:?}");
                if some != 0 {
                    let nearest = line().find_map(|(next, steps)| at(next).map(|_| steps));
                    assert_eq!(
                        Some(herd.steps_to(some, cell)),
                        nearest,
                        "{herd:?} {cell:x} {direction:?}"
                    );
                }
            }
        }
        for called in 0..count {
            let target = herd.get(called).cell;
            let call = Call::new(&bare, &herd, target);
            let responses = respond(&bare, &herd, &call, true);
            assert_eq!(first_of(call.called), called);
            assert_eq!(call.is_idle(), call.turned == 0);
            let sees = |index: &usize| {
                line_of_sight(&bare, &herd, *index)
                    .last()
                    .unwrap_or(herd.get(*index).cell)
            };
            let next_to_it = |index: &usize| {
                herd.get(*index).gaze.from(sees(index), 1) == target
                    && herd.get(*index).gaze != Gaze::Asleep
            };
            let looking: Vec<usize> = (0..count).filter(next_to_it).collect();
            assert_eq!(
                responses
                    .walks()
                    .iter()
                    .map(Walk::index)
                    .collect::<Vec<_>>(),
                looking,
                "{herd:?} {target:x}"
            );
        }
    }
}

#[test]
fn creature_that_sees_the_called_one_approaches_and_adopts_its_gaze() {
    assert_eq!(
        after_call("p> .. .. pv .. .. p< .. p<", 1),
        ".. .. pv pv pv .. .. .. p<"
    );
    assert_eq!(
        after_call("p> .. ## pv .. .. p> .. ..", 1),
        "p> .. ## pv .. .. p> .. ..",
        "a rock in between, and a creature that looks away"
    );
    assert_eq!(
        after_call(".. .. pv p< .. .. .. .. ..", 0),
        ".. .. pv pv .. .. .. .. ..",
        "a neighbour adopts the gaze without moving"
    );
}

#[test]
fn water_blocks_movement_but_not_sight() {
    assert_eq!(
        after_call("p> .. .. ~~ .. p^ .. .. ..", 1),
        ".. .. p^ ~~ .. p^ .. .. .."
    );
}

#[test]
fn shy_creature_backs_away_and_keeps_its_gaze() {
    assert_eq!(
        after_call(".. .. .. .. s> .. .. p^ ..", 1),
        "s> .. .. .. .. .. .. p^ .."
    );
    assert_eq!(
        after_call(".. ~~ .. .. s> .. .. p^ ..", 1),
        ".. ~~ s> .. .. .. .. p^ .."
    );
}

#[test]
fn sleeper_wakes_and_looks_at_the_arriving_creature() {
    assert_eq!(
        after_call("p> .. .. .. pz .. .. .. ..", 1),
        ".. .. .. p> p< .. .. .. .."
    );
    assert_eq!(
        after_call("s< p^ .. s< .. .. .. .. pz", 1),
        "s< p^ .. .. .. .. .. s< p<"
    );
}

#[test]
fn restless_creature_turns_after_its_gaze_is_adopted() {
    assert_eq!(
        after_call("p> .. .. .. r^ .. .. .. ..", 1),
        ".. .. .. p^ r> .. .. .. .."
    );
    assert_eq!(
        after_call(".. .. .. .. r< .. .. .. ..", 0),
        ".. .. .. .. r^ .. .. .. .."
    );
}
