//! Random scenes with the results of the official engine 0.9.3. `official_scenes.py` generates them
//! and documents the format.

use std::str::FromStr;

use rhae_engine::{Blocking, Camera, Frame, Interaction, Picture, Rotation, Sprite, topmost_at};

#[derive(Default)]
struct Scene {
    camera: Camera,
    sprites: Vec<Sprite>,
}

#[test]
fn scenes_agree_with_the_official_engine() {
    let mut scene = Scene::default();
    let mut checks = 0;
    for (number, line) in (1..).zip(include_str!("official_scenes.txt").lines()) {
        let words: Vec<&str> = line.split(' ').collect();
        checks += check(
            &mut scene,
            words[0],
            &words[1..],
            &format!("line {number}: {line}"),
        );
    }
    assert!(checks > 1_000, "only {checks} results were compared");
}

/// Processes one line of a scene and returns the number of results that it compared.
fn check(scene: &mut Scene, kind: &str, words: &[&str], place: &str) -> usize {
    match kind {
        "camera" => {
            *scene = Scene {
                camera: camera(words),
                sprites: Vec::new(),
            }
        }
        "sprite" => scene.sprites.push(sprite(words)),
        "bad" => assert!(
            Sprite::new("bad", picture(words[1]))
                .set_scale(read(words[0]))
                .is_err(),
            "{place}"
        ),
        "frame" => {
            let mut frame = Frame::filled(9);
            scene.camera.render(&scene.sprites, &mut frame);
            assert_eq!(
                format!("{:016x}", fnv(frame.cells())),
                words[0],
                "{place}\n{frame:?}"
            );
        }
        "hits" => assert_eq!(
            pairs(&scene.sprites, Sprite::collides_with),
            words,
            "{place}"
        ),
        "touches" => assert_eq!(pairs(&scene.sprites, Sprite::overlaps), words, "{place}"),
        "merged" => {
            let merged = scene.sprites[0]
                .merged(&scene.sprites[1])
                .expect("the official engine merged them");
            assert_eq!(
                [merged.x, merged.y, merged.layer],
                [0, 1, 2].map(|index| read(words[index])),
                "{place}"
            );
            assert_eq!(
                (merged.blocking, merged.interaction),
                (blocking(words[3]), interaction(words[4])),
                "{place}"
            );
            assert_eq!(merged.picture(), &picture(words[5]), "{place}");
        }
        "at" => {
            let collidable = scene
                .sprites
                .iter()
                .filter(|sprite| sprite.interaction.is_collidable());
            let found = topmost_at(collidable, read(words[0]), read(words[1]));
            let index = found.and_then(|found| {
                scene
                    .sprites
                    .iter()
                    .position(|sprite| std::ptr::eq(sprite, found))
            });
            assert_eq!(
                index.map_or("-".to_owned(), |index| index.to_string()),
                words[2],
                "{place}"
            );
        }
        "grid" => {
            let cell = scene.camera.display_to_grid(read(words[0]), read(words[1]));
            let expected = (words[2] != "-").then(|| (read(words[2]), read(words[3])));
            assert_eq!(cell, expected, "{place}");
        }
        other => panic!("unknown line kind `{other}`"),
    }
    usize::from(!matches!(kind, "camera" | "sprite"))
}

fn camera(words: &[&str]) -> Camera {
    let camera =
        Camera::new(read(words[2]), read(words[3])).expect("the official engine took the size");
    camera
        .at(read(words[0]), read(words[1]))
        .colored(read(words[4]), read(words[5]))
}

fn sprite(words: &[&str]) -> Sprite {
    let mut sprite = Sprite::new("any", picture(words[9]))
        .at(read(words[0]), read(words[1]))
        .on_layer(read(words[2]))
        .blocking(blocking(words[7]))
        .interacting(interaction(words[8]));
    sprite
        .set_scale(read(words[3]))
        .expect("the official engine drew the scale");
    sprite.set_rotation(
        Rotation::from_degrees(read(words[4])).expect("the official engine took the angle"),
    );
    sprite.set_mirror_ud(words[5] == "1");
    sprite.set_mirror_lr(words[6] == "1");
    sprite
}

fn pairs(sprites: &[Sprite], meet: fn(&Sprite, &Sprite) -> bool) -> Vec<String> {
    let found =
        |one: usize| (0..sprites.len()).filter(move |&two| meet(&sprites[one], &sprites[two]));
    (0..sprites.len())
        .flat_map(|one| found(one).map(move |two| format!("{one}-{two}")))
        .collect()
}

fn picture(text: &str) -> Picture {
    let rows: Vec<Vec<i8>> = text
        .split('/')
        .map(|row| row.split(',').map(read).collect())
        .collect();
    Picture::from_rows(&rows).expect("the script writes rectangles")
}

fn blocking(word: &str) -> Blocking {
    match word {
        "none" => Blocking::NotBlocked,
        "box" => Blocking::BoundingBox,
        "pixel" => Blocking::PixelPerfect,
        other => panic!("unknown blocking mode `{other}`"),
    }
}

fn interaction(word: &str) -> Interaction {
    match word {
        "tangible" => Interaction::Tangible,
        "intangible" => Interaction::Intangible,
        "invisible" => Interaction::Invisible,
        "removed" => Interaction::Removed,
        other => panic!("unknown interaction mode `{other}`"),
    }
}

fn read<T: FromStr>(word: &str) -> T {
    word.parse()
        .unwrap_or_else(|_| panic!("`{word}` is not a number of the expected type"))
}

/// The 64-bit FNV-1a hash, chosen because the script can implement it in a few lines.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |value, &byte| {
        (value ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
