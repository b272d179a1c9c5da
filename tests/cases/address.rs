//! Links: what goes into the address comes out of it, and no fragment from outside does harm.

use super::draw::Draw;
use plateau::engine::admit::{self, admit};
use plateau::engine::protocol::ExecutorChoice;
use plateau::export::address::{AddressError, Link, MAX_BYTES, from_fragment, to_fragment};
use plateau::scenarios;
use plateau::spec::*;
use proptest::prelude::*;

const CHOICES: [ExecutorChoice; 3] = [ExecutorChoice::Auto, ExecutorChoice::Gpu, ExecutorChoice::Cpu];

fn linear(spec: &mut Spec) -> &mut Linear {
    let Model::Linear(linear) = &mut spec.model;
    linear
}

fn all_presets() -> impl Iterator<Item = (String, Spec)> {
    scenarios::ALL.iter().flat_map(|scenario| {
        let named = |preset: scenarios::Preset| (format!("{}/{}", scenario.id, preset.id), preset.spec);
        (scenario.presets)().into_iter().map(named)
    })
}

/// There and back, with and without `#`.
fn comes_back(spec: &Spec, executor: ExecutorChoice) -> String {
    let fragment = to_fragment(spec, executor);
    let link = Link { spec: spec.clone(), executor };
    assert_eq!(from_fragment(&fragment).as_ref(), Ok(&link), "{fragment}");
    assert_eq!(from_fragment(&format!("#{fragment}")), Ok(link));
    fragment
}

#[test]
fn a_preset_is_its_name() {
    for (name, spec) in all_presets() {
        assert_eq!(comes_back(&spec, ExecutorChoice::Auto), name);
        assert_eq!(comes_back(&spec, ExecutorChoice::Cpu), format!("{name}?executor=cpu"));
        assert_eq!(from_fragment(&format!("{name}?executor=auto")).map(|link| link.spec), Ok(spec));
    }
}

#[test]
fn nothing_is_the_first_preset() {
    let first = scenarios::ALL[0].preset(None).expect("a preset");
    for text in ["", "#", " # ", "saxe", "saxe/", "/standard", "#saxe/standard?", "saxe?&&"] {
        assert_eq!(from_fragment(text).map(|link| link.spec), Ok(first.clone()), "`{text}`");
    }
}

#[test]
fn a_link_is_short_and_says_what_it_changes() {
    let mut spec = scenarios::ALL[0].preset(Some("identity")).expect("there");
    spec.training.eta = 0.02;
    spec.training.steps = 1_000;
    linear(&mut spec).spectrum = vec![3.0, 1.5, 1e-7];
    let link = comes_back(&spec, ExecutorChoice::Gpu);
    let settings = "model.spectrum=3,1.5,1e-7&training.eta=0.02&training.steps=1000&executor=gpu";
    assert_eq!(link, format!("saxe/identity?{settings}"));
    // The same, as a browser or a person may write it; of two values the later counts.
    for other in [
        "saxe/identity?executor=gpu&training.steps=1e3&training.eta=2e-2&model.spectrum=[3, 1.5, 1e-7]",
        "saxe/identity?model.spectrum=%5B3%2C1.5%2C1e-7%5D&training.eta=0.1&training%2Eeta%3D0.02&training.steps=1000&executor=gpu",
    ] {
        assert_eq!(from_fragment(other).map(|link| link.spec), Ok(spec.clone()), "{other}");
    }
}

/// Specs that admission lets pass, all fields changed.
fn any_spec() -> impl Strategy<Value = Spec> {
    let numbers = (1e-9..admit::MAX_ETA, 1..admit::MAX_STEPS, any::<u32>(), 1..=64_u32);
    let spectrum = proptest::collection::vec(
        prop_oneof![0.0..admit::MAX_SINGULAR_VALUE, 1e-300..1e-9, Just(0.0), (0..9_u32).prop_map(f64::from)],
        1..=admit::MAX_WIDTH,
    );
    let net = (1..=admit::MAX_DEPTH, 0..4_usize, 0.0..admit::MAX_TAU, 1e-3..1e3, any::<bool>(), 0..3_usize);
    let preset = 0..(scenarios::ALL[0].presets)().len();
    (numbers, spectrum, net, preset, any::<u16>()).prop_map(|(numbers, mut spectrum, net, preset, which)| {
        let (eta, steps, seed, members) = numbers;
        let mut spec = (scenarios::ALL[0].presets)().swap_remove(preset).spec;
        let change = |bit: u32| which & (1 << bit) != 0;
        let set = |bit: u32, set: &mut dyn FnMut()| {
            if change(bit) {
                set()
            }
        };
        set(0, &mut || spec.training.eta = eta);
        set(1, &mut || spec.training.steps = steps);
        set(2, &mut || spec.seed = seed);
        set(3, &mut || spec.ensemble.members = members);
        spec.measure.every = spec.training.steps.div_ceil(1_000);
        let net_of = linear(&mut spec);
        spectrum.sort_by(|a, b| b.total_cmp(a));
        set(4, &mut || net_of.spectrum = spectrum.clone());
        set(5, &mut || (net_of.depth, net_of.start) = (net.0, Start::Random));
        let starts = [Start::Aligned, Start::Identity, Start::Random, Start::Unbalanced];
        set(6, &mut || (net_of.depth, net_of.start) = (2, starts[net.1]));
        set(7, &mut || net_of.tau = net.2);
        set(8, &mut || net_of.imbalance = net.3);
        set(9, &mut || net_of.basis = if net.4 { Basis::Random } else { Basis::Identity });
        set(10, &mut || net_of.det = [Det::Any, Det::Positive, Det::Negative][net.5]);
        spec
    })
}

proptest! {
    #[test]
    fn every_changed_setting_comes_back(spec in any_spec(), executor in 0..3_usize) {
        prop_assume!(admit(&spec).is_ok());
        let fragment = comes_back(&spec, CHOICES[executor]);
        prop_assert!(fragment.len() < MAX_BYTES);
        prop_assert!(fragment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~,/?&=%".contains(&byte)));
    }
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let long = "x".repeat(MAX_BYTES + 1);
    let many = format!("saxe/standard?{}", "seed=1&".repeat(65));
    for (text, expected) in [
        ("sexa/standard", "no scenario is called `sexa`; nearest: saxe"),
        ("saxe/identty", "saxe has no preset `identty`; nearest: identity"),
        ("saxe/standard?training.etta=1", "no field `training.etta` in a Spec; nearest: training.eta"),
        ("saxe/standard?training.eta", "not PATH=VALUE"),
        ("saxe/standard?training.eta=fast", "training.eta=fast: invalid type"),
        ("saxe/standard?training.steps=1e300", "training.steps=1e300"),
        ("saxe/standard?training.steps=99999999999999999999999", "training.steps"),
        ("saxe/standard?ensemble.members=1000000", "more than the limit of 4096"),
        ("saxe/standard?model.depth=9", "model.depth: 9 is not between 1 and 4"),
        ("saxe/standard?model.tau=nan", "model.tau: NaN"),
        ("saxe/standard?executor=gpuu", "no executor is called `gpuu`; nearest: gpu"),
        ("saxe/standard?scenario=dyck", "nothing is called `dyck`; nearest: saxe"),
        ("saxe/standard?seed=%zz", "`seed=%zz`: after `%` belong two hexadecimal digits"),
        ("saxe/standard?seed=%", "hexadecimal"),
        ("saxe/%ff", "of UTF-8 text"),
        ("saxe/standard?seed=1%0Ascenario='x'", "expected u32"),
        (&long, "the link is 8193 bytes long, the limit is 8192"),
        (&many, "more than 64 settings"),
    ] {
        let said = from_fragment(text).expect_err(text).to_string();
        assert!(said.contains(expected), "`{text}` says `{said}`, not `{expected}`");
        assert!(!said.contains(['\n', '\0', '\u{1b}']) && said.chars().count() < 500, "{said}");
    }
    assert!(matches!(from_fragment("#saxe/%F"), Err(AddressError::Percent(_))));
    assert!(matches!(from_fragment("saxe/standard?model.depth=9"), Err(AddressError::Refused(_))));
}

/// Pieces that break readers: percent garbage, huge numbers, deep paths and lists.
fn pieces() -> Vec<String> {
    let mut pieces: Vec<String> = [
        "%",
        "%%",
        "%0",
        "%00",
        "%u1234",
        "%F0%9F",
        "%25",
        "#",
        "?",
        "&",
        "=",
        "/",
        "..",
        "\n",
        "1e999",
        "-1",
        "nan",
        "inf",
        "9".repeat(400).as_str(),
        "0x",
        "[",
        "{",
        "\"",
        "'''",
        "\u{202e}",
        "é",
        "executor=",
        "model.",
        "training.eta=",
        "model.spectrum=",
        "model={kind='linear'}",
        "seed=",
        "measure.every=0",
        "v=1",
        "\0",
    ]
    .map(str::to_owned)
    .to_vec();
    pieces.extend(
        ["a.", "[", "{a=", "%5B", "[[", "1,", "a={"].map(|piece| piece.repeat(MAX_BYTES / piece.len() - 60)),
    );
    pieces.push(format!("model.spectrum={{{}=1}}", "a.".repeat(3_000)));
    pieces.push(format!("model.spectrum=1]%0A[{}a]%0Av=[1", "a.".repeat(3_000)));
    pieces
}

#[test]
fn ten_thousand_hostile_links_do_no_harm() {
    let (mut draw, pieces) = (Draw::new(17), pieces());
    let good: Vec<String> = all_presets()
        .map(|(name, _)| format!("{name}?training.eta=0.02&model.spectrum=3,2,1&seed=4&executor=cpu"))
        .collect();
    let mut accepted = 0;
    for _ in 0..10_000 {
        let mut text = draw.pick(&good).clone().into_bytes();
        if draw.below(8) == 0 {
            text = (0..draw.below(200)).map(|_| draw.below(256) as u8).collect();
        }
        for _ in 0..=draw.below(4) {
            draw.mutate(&mut text, &pieces);
        }
        // A page hands over text; what is no text there has been replaced.
        let text = String::from_utf8_lossy(&text);
        match from_fragment(&text) {
            Ok(link) => {
                accepted += 1;
                admit(&link.spec).expect("what is read can run");
                comes_back(&link.spec, link.executor);
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!said.contains('\n') && said.chars().count() < 700, "{said}");
            }
        }
    }
    assert!((200..8_000).contains(&accepted), "{accepted}: the mutations are too wild or too tame");
}
