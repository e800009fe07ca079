use burn::Tensor;
use burn::module::Module;
use burn::tensor::Device;
use rhae_engine::{Frame, Rng};
use rhae_neural::{Learner, Network, NetworkKind, OUTPUTS, PackedFrame, SIMPLE_OUTPUTS};

use crate::Parameters;

fn network(kind: NetworkKind) -> Network {
    Network::new(kind, &mut Rng::new(1, 0), &Device::flex())
}

fn logits(network: &Network, count: usize) -> Tensor<2> {
    let frames = vec![PackedFrame::new(&Frame::filled(3)); count];
    network.logits(frames.iter(), None, &Device::flex())
}

/// Returns the shapes of convolutions, given as (channels in, channels out, kernel).
fn convolutions(layers: &[(usize, usize, usize)]) -> Vec<Vec<usize>> {
    let shapes =
        |&(from, to, kernel): &(usize, usize, usize)| [vec![to, from, kernel, kernel], vec![to]];
    layers.iter().flat_map(shapes).collect()
}

fn dense(from: usize, to: usize) -> [Vec<usize>; 2] {
    [vec![from, to], vec![to]]
}

#[test]
fn faithful_network_has_the_layers_of_the_original() {
    let network = network(NetworkKind::Faithful);
    let mut expected = convolutions(&[(16, 32, 3), (32, 64, 3), (64, 128, 3), (128, 256, 3)]);
    expected.extend(dense(65_536, 512));
    expected.extend(dense(512, 5));
    expected.extend(convolutions(&[
        (256, 128, 3),
        (128, 64, 3),
        (64, 32, 1),
        (32, 1, 1),
    ]));
    assert_eq!(Parameters::of(&network).shapes, expected);
    assert_eq!(network.num_params(), 34_320_614);
    assert_eq!(logits(&network, 1).dims(), [1, OUTPUTS]);
}

#[test]
fn lite_network_has_the_described_layers() {
    let network = network(NetworkKind::Lite);
    // A 3 × 3 convolution is a matrix with a row for each input of a patch.
    let convolutions = [(16, 16), (16, 32), (32, 32), (32, 32)];
    let mut expected: Vec<Vec<usize>> = convolutions
        .into_iter()
        .flat_map(|(from, to)| dense(9 * from, to))
        .collect();
    expected.extend(dense(64, 64));
    expected.extend(dense(64, 5));
    // The 48 channels of the click head are those of both resolutions.
    expected.extend([vec![32, 32], vec![16, 32], vec![32]]);
    expected.extend(dense(32, 1));
    assert_eq!(Parameters::of(&network).shapes, expected);
    assert_eq!(network.num_params(), 31_542);
    assert_eq!(logits(&network, 3).dims(), [3, OUTPUTS]);
}

/// A changed cell changes the logits of clicks near it and no others. A click head with rows and
/// columns swapped, or shifted by the five keys, would fail.
#[test]
fn click_logits_are_at_the_place_of_their_cells() {
    for (kind, reach) in [(NetworkKind::Faithful, 6), (NetworkKind::Lite, 9)] {
        let mut learner = Learner::new(kind, 1);
        let plain = Frame::filled(5);
        let mut dotted = plain.clone();
        dotted.set(40, 10, 8);
        let (before, after) = (
            learner.logits(&plain, false),
            learner.logits(&dotted, false),
        );
        let changed: Vec<(usize, usize)> = (0..64 * 64)
            .filter(|cell| before[SIMPLE_OUTPUTS + cell] != after[SIMPLE_OUTPUTS + cell])
            .map(|cell| (cell % 64, cell / 64))
            .collect();
        assert!(changed.contains(&(40, 10)), "{kind:?}");
        for (x, y) in changed {
            assert!(
                x.abs_diff(40) <= reach && y.abs_diff(10) <= reach,
                "{kind:?} {x} {y}"
            );
        }
        assert_ne!(
            before[..SIMPLE_OUTPUTS],
            after[..SIMPLE_OUTPUTS],
            "{kind:?}"
        );
    }
}

#[test]
fn dropout_changes_the_keys_and_not_the_clicks() {
    let mut learner = Learner::new(NetworkKind::Lite, 1);
    let mut frame = Frame::filled(5);
    frame.rect(10, 20, 5, 5, 9);
    let exact = learner.logits(&frame, false);
    assert_eq!(exact, learner.logits(&frame, false));
    let (first, second) = (learner.logits(&frame, true), learner.logits(&frame, true));
    assert_ne!(first[..SIMPLE_OUTPUTS], second[..SIMPLE_OUTPUTS]);
    assert_ne!(first[..SIMPLE_OUTPUTS], exact[..SIMPLE_OUTPUTS]);
    assert_eq!(first[SIMPLE_OUTPUTS..], exact[SIMPLE_OUTPUTS..]);
}
