//! Networks: what is followed equals what is summed up from scratch, whole numbers agree with real ones, and files are
//! understood exactly or refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, colours_exchanged, random_move, random_position, shipped, variant, variant_from};
use fairyforge_engine::evaluate::network::{
    Architecture, Card, CardData, Features, Instructions, Mirroring, Network, NetworkFile, NetworkFileError,
    Parameters, QuantisationError, Quantised, Scales, inputs_of,
};
use fairyforge_engine::evaluate::{Evaluator, Tapered, Weights};
use fairyforge_engine::geometry::Square;
use fairyforge_engine::position::{Observer, Piece, Position, Unobserved};
use fairyforge_engine::search::{Limits, Memory, Params, Report, Request, search};
use fairyforge_engine::tools::bench::Bench;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::MAX_UNITS;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

const CENTIPAWNS: i32 = 400;
/// Plies of random games.
const PLIES: usize = 80;

/// A shape with as much in it as the game allows.
fn rich(variant: &Arc<Variant>, width: usize) -> Arc<Features> {
    let regions = Architecture { king_ranks: vec![1, 3], king_files: vec![2], ..Architecture::plain(width) };
    let shapes = [Mirroring::Exact, Mirroring::IgnoringCastling, Mirroring::Off]
        .map(|mirroring| Architecture { mirroring, output_buckets: 4, ..regions.clone() })
        .into_iter()
        .chain([Architecture { output_buckets: 4, ..Architecture::plain(width) }]);
    let mut fitting = shapes.filter_map(|shape| Features::new(variant, shape).ok());
    Arc::new(fitting.next().unwrap())
}

/// Of all shipped games, made once.
static RICH: LazyLock<Vec<Arc<Features>>> =
    LazyLock::new(|| shipped().iter().map(|variant| rich(variant, 64)).collect());

fn plain(variant: &Arc<Variant>, width: usize) -> Arc<Features> {
    Arc::new(Features::new(variant, Architecture::plain(width)).unwrap())
}

/// Random numbers that reach both ends of the activation.
fn random_parameters(features: &Features, seed: u64) -> Parameters {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut numbers = |count: usize, middle: f32, spread: f32| -> Vec<f32> {
        let unit = |random: &mut ChaCha8Rng| (random.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0;
        (0..count).map(|_| middle + spread * unit(&mut random)).collect()
    };
    let shape = features.architecture();
    Parameters {
        transformer: numbers(features.inputs() * shape.width, 0.0, 0.2),
        bias: numbers(shape.width, 0.4, 0.3),
        output: numbers(shape.output_buckets * 2 * shape.width, 0.0, 1.0),
        output_bias: numbers(shape.output_buckets, 0.0, 0.5),
    }
}

/// Every neuron looks at how much material its side has, with a little noise; so the sums of squares compare material.
fn material_parameters(features: &Features, seed: u64) -> Parameters {
    let variant = features.variant();
    let values = Weights::a_priori(variant).exchange_values();
    let worth = |(_, unit, _): &(_, fairyforge_engine::variant::rules::Unit, _)| values[unit.index()];
    let army: i32 = variant.rules().array.iter().map(worth).sum::<i32>() / 2;
    let width = features.architecture().width;
    let mut parameters = random_parameters(features, seed);
    for (index, weight) in parameters.transformer.iter_mut().enumerate() {
        let input = features.meaning(index / width).unwrap();
        let value = if input.enemy { 0.0 } else { values[input.unit.index()] as f32 / army as f32 };
        *weight = 0.7 * value + 0.01 * *weight;
    }
    parameters.bias.fill(0.1);
    for (index, weight) in parameters.output.iter_mut().enumerate() {
        let sign = if (index / width).is_multiple_of(2) { 1.0 } else { -1.0 };
        *weight = 20.0 / width as f32 * sign;
    }
    parameters.output_bias.fill(0.0);
    parameters
}

fn quantised(features: &Arc<Features>, parameters: &Parameters) -> Quantised {
    Quantised::new(features, parameters, Scales::fitting(parameters, CENTIPAWNS)).unwrap().0
}

fn file_of(quantised: Quantised) -> NetworkFile {
    let variant = Arc::clone(quantised.features().variant());
    let unit_values = variant.units().map(|unit| Weights::a_priori(&variant).exchange_values()[unit.index()]).collect();
    let data = vec![CardData { name: "none".into(), digest: "00ff".into(), games: 3 }];
    let card = Card {
        method: "random numbers".into(),
        program: "test".into(),
        data,
        seed: u64::MAX,
        positions: 12,
        training_loss: Some(0.125),
        gate: Some("none".into()),
        ..Card::default()
    };
    NetworkFile { quantised, base: None, unit_values, card }
}

fn network(features: &Arc<Features>, seed: u64) -> Network {
    Network::new(file_of(quantised(features, &random_parameters(features, seed))))
}

/// The output by the slow twin.
fn slow(quantised: &Quantised, position: &Position) -> f64 {
    let features = quantised.features();
    let scales = quantised.scales();
    let [own, opponent] = inputs_of(features, position);
    let sum = quantised.sum([&own, &opponent], features.output_bucket(position));
    let one = i64::from(scales.transformer).pow(2) * i64::from(scales.output);
    sum as f64 / one as f64
}

/// Random games of every shipped variant; every move of every position is followed, and the line of the game itself is valued
/// only now and then, with passes in between, as in a search.
#[test]
fn followed_networks_equal_fresh_ones_in_every_game() {
    for (number, rich) in RICH.iter().enumerate() {
        for features in [Arc::clone(rich), plain(rich.variant(), 64)] {
            let quantised = quantised(&features, &random_parameters(&features, number as u64));
            let network = Network::new(file_of(quantised.clone()));
            follow_a_game(&quantised, &network, &mut ChaCha8Rng::seed_from_u64(number as u64));
        }
    }
}

fn follow_a_game(quantised: &Quantised, network: &Network, random: &mut ChaCha8Rng) {
    let mut position = Position::start(quantised.features().variant());
    let mut line = network.line(&position, 2 * PLIES + 2);
    for ply in 0..2 * PLIES {
        let check = |position: &Position, got: f64| assert_eq!(got, slow(quantised, position), "{position:?}");
        for mv in position.legal_moves().into_iter().filter(|_| random.next_u32().is_multiple_of(8)).collect::<Vec<_>>()
        {
            let undo = position.make(mv, &mut network.follow(&mut line, ply));
            check(&position, network.output_at(&position, &mut line, ply + 1));
            position.unmake(mv, &undo);
        }
        if random.next_u32().is_multiple_of(3) {
            check(&position, network.output_at(&position, &mut line, ply));
            check(&position, network.output(&position));
        }
        if random.next_u32().is_multiple_of(8) && !position.in_check() {
            let _no_changes = network.follow(&mut line, ply);
            position.make_null();
            continue;
        }
        let Some(mv) = random_move(&position, random) else { break };
        position.make(mv, &mut network.follow(&mut line, ply));
    }
}

/// An evaluator that follows nothing and sums up everything, slowly.
struct FromScratch<'a>(&'a Quantised, &'a Network);

impl Evaluator for FromScratch<'_> {
    type Line = ();
    type Follower<'a>
        = Unobserved
    where
        Self: 'a;

    fn line(&self, _: &Position, _: usize) {}
    fn follow<'a>(&'a self, (): &'a mut (), _: usize) -> Unobserved {
        Unobserved
    }
    fn value(&self, position: &Position, (): &mut (), _: usize) -> i32 {
        let centipawns = f64::from(self.0.scales().centipawns) * slow(self.0, position);
        let value = self.1.value_of(position);
        assert!((centipawns - f64::from(value)).abs() < 1.0 + 1e-9, "{position:?}: {centipawns} but {value}");
        value
    }
    fn step_gain(&self, piece: Piece, from: Square, to: Square) -> i32 {
        self.1.step_gain(piece, from, to)
    }
    fn exchange_values(&self) -> &[i32; MAX_UNITS] {
        self.1.exchange_values()
    }
}

fn searched<E: Evaluator>(position: &Position, evaluator: &E, nodes: u64) -> Report {
    let mut memory = Memory::new(4, Params::default());
    let (stop, limits) = (AtomicBool::new(false), Limits::nodes(nodes));
    search(
        &Request { position, earlier: &[], limits: &limits, evaluator, endgames: None, stop: &stop },
        &mut memory,
        |_, _| (),
    )
}

#[test]
fn searches_with_any_instructions_equal_those_from_scratch() {
    for name in ["chess", "herculean", "sorcerer-reinforcements", "opulent-lemurian-shatranj", "spartan"] {
        let features = rich(&variant(name), 128);
        let quantised = quantised(&features, &material_parameters(&features, 3));
        let position = random_position(&variant(name), 12, &mut ChaCha8Rng::seed_from_u64(4));
        let expected = searched(&position, &FromScratch(&quantised, &network_of(&quantised)), 1_500);
        assert_eq!(expected.nodes, 1_500, "{name}");
        for instructions in Instructions::all() {
            let network = network_of(&quantised).with_instructions(instructions);
            assert_eq!(searched(&position, &network, 1_500), expected, "{name} {}", instructions.name());
        }
    }
}

fn network_of(quantised: &Quantised) -> Network {
    Network::new(file_of(quantised.clone()))
}

#[test]
fn whole_numbers_agree_with_real_ones_as_stated() {
    for name in ["chess", "herculean", "sorcerer", "sorcerer-reinforcements"] {
        let features = rich(&variant(name), 256);
        let parameters = random_parameters(&features, 8);
        let (quantised, rounding) =
            Quantised::new(&features, &parameters, Scales::fitting(&parameters, CENTIPAWNS)).unwrap();
        let network = network_of(&quantised);
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut squares = 0.0;
        let count = 200;
        for _ in 0..count {
            let position = random_position(&variant(name), below(&mut random, 120), &mut random);
            let [own, opponent] = inputs_of(&features, &position);
            let real = parameters.output(&features, [&own, &opponent], features.output_bucket(&position));
            let apart = f64::from(CENTIPAWNS) * (network.output(&position) - real).abs();
            assert!(apart <= rounding.worst_centipawns, "{name}: {apart} but {rounding:?}");
            assert!(apart <= 5.0 * rounding.typical_centipawns, "{name}: {apart} but {rounding:?}");
            squares += apart * apart;
        }
        let typical = (squares / f64::from(count)).sqrt();
        let stated = rounding.typical_centipawns;
        // The statement takes every activation for as steep as can be, so it is no less than what comes out, and not idle.
        assert!((0.1 * stated..=stated).contains(&typical), "{name}: stated {stated}, measured {typical}");
    }
}

#[test]
fn exchanging_the_colours_changes_nothing() {
    for features in RICH.iter().filter(|features| features.variant().armies_are_alike()) {
        let (variant, network) = (features.variant(), network(features, 5));
        let mut random = ChaCha8Rng::seed_from_u64(12);
        for _ in 0..12 {
            let position = random_position(variant, below(&mut random, 60), &mut random);
            assert_eq!(network.output(&colours_exchanged(&position)), network.output(&position), "{position:?}");
        }
    }
}

#[test]
fn mirror_images_are_worth_the_same_where_sides_mirror() {
    let mut mirrored_games = 0;
    for features in RICH.iter() {
        let variant = features.variant();
        let width = variant.topology().width();
        if features.architecture().mirroring == Mirroring::Off || !width.is_multiple_of(2) {
            continue;
        }
        mirrored_games += 1;
        let [network, unmirrored] = [features, &plain(variant, 64)].map(|features| network(features, 6));
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let mut differ = 0;
        for _ in 0..12 {
            let position = random_position(variant, below(&mut random, 60), &mut random);
            let image = |square: Square| Square::at(width - 1 - square.file(), square.row()).unwrap();
            let men = |image: &dyn Fn(Square) -> Square| {
                let men = position.occupied().iter().map(|square| (image(square), position.piece_at(square)));
                Position::of_men(variant, men.collect::<Vec<_>>(), position.side_to_move()).unwrap()
            };
            let (here, there) = (men(&|square| square), men(&image));
            assert_eq!(network.output(&here), network.output(&there), "{position:?}");
            differ += usize::from(unmirrored.output(&here) != unmirrored.output(&there));
        }
        assert!(differ > 6, "{}: the images are the positions themselves", variant.name());
    }
    assert!(mirrored_games > 20, "only {mirrored_games} games mirror");
}

/// Set up by hand: more men than the game begins with, and weights that together are more than sixteen bits.
#[test]
fn crowds_are_summed_up_in_wider_numbers() {
    let features = plain(&variant("chess"), 64);
    let mut parameters = random_parameters(&features, 7);
    let queen = features.variant().unit_named("queen").unwrap();
    for (index, weight) in parameters.transformer.iter_mut().enumerate() {
        let input = features.meaning(index / 64).unwrap();
        *weight = if input.unit == queen { -3.5 } else { 0.0 };
    }
    let quantised = quantised(&features, &parameters);
    let network = network_of(&quantised);
    let crowd = common::position("chess", "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/PPPPPPPP/8/k6K b - - 0 1");
    assert!(40 * 892 > i32::from(i16::MAX), "forty queens overflow");
    assert_eq!(network.output(&crowd), slow(&quantised, &crowd));
    let mut line = network.line(&crowd, 3);
    let mut position = crowd.clone();
    for (ply, mv) in ["a1b1", "h1g1"].into_iter().enumerate() {
        let mv = position.parse_move(mv).unwrap();
        position.make(mv, &mut network.follow(&mut line, ply));
        assert_eq!(network.output_at(&position, &mut line, ply + 1), slow(&quantised, &position));
    }
}

fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

#[test]
fn numbers_that_do_not_fit_are_refused_by_name() {
    let features = plain(&variant("chess"), 64);
    let good = random_parameters(&features, 1);
    let scales = Scales::fitting(&good, CENTIPAWNS);
    let fault = |change: &dyn Fn(&mut Parameters), scales: Scales| {
        let mut parameters = good.clone();
        change(&mut parameters);
        Quantised::new(&features, &parameters, scales).map(|_| ()).unwrap_err()
    };
    let message = |change: &dyn Fn(&mut Parameters)| fault(change, scales).to_string();

    let weight = message(&|parameters| parameters.transformer[64 * 9 + 5] = 128.6);
    let name = "weight of input 9 (own bishop on b2, king region 0) for neuron 5";
    assert!(weight.starts_with(name) && weight.contains("128.6"), "{weight}");
    assert!(message(&|parameters| parameters.bias[3] = -128.6).starts_with("bias of neuron 3: "));
    let output = message(&|parameters| parameters.output[64 + 7] = 1.1);
    assert!(output.starts_with("output weight of bucket 0, opponent's neuron 7: "), "{output}");
    assert!(message(&|parameters| parameters.output_bias[0] = 1e6).starts_with("output_bias 0: "));
    for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert!(message(&|parameters| parameters.transformer[0] = broken).contains("weight of input 0 "));
        assert!(message(&|parameters| parameters.output_bias[0] = broken).contains("output_bias 0"));
    }

    let shortened = fault(&|parameters| parameters.output.truncate(127), scales);
    assert_eq!(shortened, QuantisationError::Length { parameter: "output", expected: 128, got: 127 });
    for (key, scales) in [
        ("transformer", Scales { transformer: 256, ..scales }),
        ("output", Scales { output: 0, ..scales }),
        ("centipawns", Scales { centipawns: -1, ..scales }),
    ] {
        assert!(matches!(fault(&|_| (), scales), QuantisationError::Scale { key: got, .. } if got == key));
    }
}

/// Thirty-two men on the squares that help most: one step more on each, and they could overflow.
#[test]
fn sums_that_could_overflow_are_refused() {
    let features = plain(&variant("chess"), 64);
    let filled = |sign: f32, steps: i16| {
        let mut parameters = random_parameters(&features, 1);
        parameters.bias.fill(0.0);
        parameters.transformer.fill(0.0);
        parameters
            .transformer
            .iter_mut()
            .skip(11)
            .step_by(64)
            .for_each(|weight| *weight = sign * f32::from(steps) / 255.0);
        Quantised::new(&features, &parameters, Scales::fitting(&parameters, CENTIPAWNS))
    };
    let most = i16::MAX / 32;
    assert!(filled(1.0, most).is_ok() && filled(-1.0, most).is_ok());
    let high = i64::from(32 * (i32::from(most) + 1));
    let expected = QuantisationError::Accumulator { neuron: 11, region: 0, low: 0, high };
    assert_eq!(filled(1.0, most + 1).map(|_| ()), Err(expected));
    assert!(filled(-1.0, most + 1).is_ok(), "the least number is one further off");
    let expected = QuantisationError::Accumulator { neuron: 11, region: 0, low: -high - 32, high: 0 };
    assert_eq!(filled(-1.0, most + 2).map(|_| ()), Err(expected));
}

#[test]
fn scales_are_as_fine_as_the_weights_allow() {
    let features = plain(&variant("chess"), 64);
    let mut parameters = random_parameters(&features, 1);
    for (greatest, output) in [(1.9, 64), (2.0, 32), (0.9, 128), (0.03, 4096), (0.0, 4096), (120.0, 1), (500.0, 1)] {
        parameters.output.fill(0.0);
        parameters.output[5] = -greatest;
        assert_eq!(Scales::fitting(&parameters, 300), Scales { transformer: 255, output, centipawns: 300 });
    }
}

/// A board small enough to try every byte of its networks.
fn tiny() -> Arc<Variant> {
    variant_from(
        "format = 1\n[variant]\nname = \"Tiny\"\n[board]\nsetup = \"\"\"\nk r .\n. . .\n. R K\n\"\"\"\n[pieces]\n\
         king = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n\
         [end]\nstalemated_side = \"draws\"\n",
    )
}

fn tiny_file() -> NetworkFile {
    let features = plain(&tiny(), 64);
    file_of(quantised(&features, &random_parameters(&features, 2)))
}

fn read(bytes: &[u8]) -> Result<NetworkFile, NetworkFileError> {
    NetworkFile::from_bytes(&tiny(), bytes)
}

#[test]
fn files_read_back_as_written() {
    for name in ["herculean", "sorcerer-reinforcements", "spartan"] {
        let variant = variant(name);
        let features = rich(&variant, 192);
        let file = file_of(quantised(&features, &random_parameters(&features, 2)));
        let bytes = file.to_bytes().unwrap();
        assert_eq!(NetworkFile::from_bytes(&variant, &bytes).unwrap(), file);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name} as written.net"));
        file.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert!(!path.with_file_name(format!("{name} as written.net.tmp")).exists());
        let loaded = NetworkFile::load(&variant, &path).unwrap();
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        let position = random_position(&variant, 20, &mut seeded());
        assert_eq!(Network::new(loaded).output(&position), slow(&file.quantised, &position));
    }
}

#[test]
fn damaged_files_are_refused() {
    let bytes = tiny_file().to_bytes().unwrap();
    assert_eq!(read(&bytes).unwrap(), tiny_file());
    for length in 0..bytes.len() {
        let error = read(&bytes[..length]).unwrap_err();
        assert!(matches!(error, NetworkFileError::Truncated { .. }), "{length}: {error}");
    }
    let mut random = seeded();
    for index in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[index] ^= (random.next_u32() % 255 + 1) as u8;
        assert!(read(&damaged).is_err(), "byte {index}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(read(&longer), Err(NetworkFileError::LeftOver { got: 1, .. })));
    let mut last = bytes.clone();
    let end = last.len() - 40;
    last[end] ^= 1;
    assert!(matches!(read(&last), Err(NetworkFileError::Damaged { .. })));
}

/// The file with a header changed, and with the right checksum.
fn with_header(change: impl Fn(String) -> String) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let bytes = tiny_file().to_bytes().unwrap();
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let header = change(String::from_utf8(bytes[12..12 + length].to_vec()).unwrap());
    let payload = &bytes[12 + length..bytes.len() - 32];
    let changed = [&bytes[..8], &(header.len() as u32).to_le_bytes(), header.as_bytes(), payload].concat();
    let checksum = Sha256::digest(&changed);
    [changed.as_slice(), &checksum].concat()
}

#[test]
fn strange_headers_are_refused() {
    assert_eq!(read(&with_header(|text| text)).unwrap(), tiny_file());
    let told = |from: &str, to: &str| {
        let bytes = with_header(|text| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        });
        read(&bytes).unwrap_err().to_string()
    };
    assert_eq!(told("\"format\":1", "\"format\":2"), "network file: expected format 1, got 2");
    assert!(told("\"width\":64", "\"width\":65").contains("expected a multiple of 64 from 64 to 512, got 65"));
    assert!(told("\"width\":64", "\"width\":128").contains("of the transformer from byte"));
    assert!(told("\"inputs\":36", "\"inputs\":37").contains("expected 36 inputs for this shape and variant, got 37"));
    assert!(told("\"width\":64", "\"wdith\":64").contains("unknown field `wdith`"));
    assert!(told("\"seed\":", "\"sede\":").contains("unknown field `sede`"));
    assert!(told("\"rook\":", "\"rock\":").contains("expected a value of rook, it is missing"));
    assert!(told("\"rook\":", "\"rock\":1,\"rook\":").contains("has no unit \"rock\""));
    assert!(told("\"king\":0", "\"king\":5001").contains("king: expected -5000 to 5000, got 5001"));
    assert!(told("\"transformer\":255", "\"transformer\":256").contains("expected 1 to 255, got 256"));
    assert!(told("\"mirroring\":\"off\"", "\"mirroring\":\"on\"").contains("unknown variant `on`"));
    assert!(matches!(read(b"FFTABLE\n    "), Err(NetworkFileError::NoNetwork)));
    let endless = [b"FFNET\r\n\n".as_slice(), &[0, 0, 0, 1]].concat();
    assert!(matches!(read(&endless), Err(NetworkFileError::HeaderLength { got: 0x0100_0000 })));
}

/// Every key of a header, in the order they are written.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    if let Some(table) = value.as_object() {
        for (key, value) in table.iter().filter(|(key, _)| *key != "unit_values") {
            found.push(key.clone());
            keys(value, found);
        }
        found.extend(table.get("unit_values").map(|_| "unit_values".to_owned()));
    }
    value.as_array().into_iter().flatten().for_each(|value| keys(value, found));
}

#[test]
fn the_format_is_told_key_by_key() {
    let mut file = tiny_file();
    file.card.validation_loss = Some(0.25);
    file.card.rounding_centipawns = Some(0.5);
    file.base = Some(Weights::a_priori(&tiny()));
    let bytes = file.to_bytes().unwrap();
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let mut found = Vec::new();
    keys(&serde_json::from_slice(&bytes[12..12 + length]).unwrap(), &mut found);
    assert_eq!(found.len(), 29, "{found:?}");
    for key in found {
        assert!(include_str!("../../docs/formats/network.md").contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn networks_of_other_rules_are_refused() {
    let bytes = tiny_file().to_bytes().unwrap();
    let error = NetworkFile::from_bytes(&variant("chess"), &bytes).unwrap_err();
    assert!(matches!(&error, NetworkFileError::OtherRules { .. }));
    assert!(error.to_string().starts_with("the network is for variant \"test\" (rules "), "{error}");
}

#[test]
fn files_that_could_not_be_read_are_not_written() {
    let mut file = tiny_file();
    file.card.validation_loss = Some(f64::NAN);
    assert!(matches!(file.to_bytes(), Err(NetworkFileError::Card { key: "validation_loss", .. })));
    let mut file = tiny_file();
    file.unit_values.pop();
    assert!(matches!(file.to_bytes(), Err(NetworkFileError::Units(_))));
    let mut file = tiny_file();
    file.unit_values[0] = 5_001;
    assert!(matches!(file.to_bytes(), Err(NetworkFileError::Units(_))));
}

fn saved(name: &str, width: usize) -> (NetworkFile, PathBuf) {
    let features = Arc::new(Features::new(&variant(name), Architecture::plain(width)).unwrap());
    let file = file_of(quantised(&features, &material_parameters(&features, 1)));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name} material {width}.net"));
    file.save(&path).unwrap();
    (file, path)
}

fn answer(script: &str) -> String {
    let mut output = Vec::new();
    fairyforge_engine::protocol::uci::run(script.as_bytes(), &mut output).unwrap();
    String::from_utf8(output).unwrap()
}

#[test]
fn sessions_play_with_a_network_of_their_game() {
    let (file, path) = saved("herculean", 256);
    let start = Position::start(&variant("herculean"));
    let network = Network::new(file);
    let set = format!("setoption name EvalFile value {}\n", path.display());
    let game = "setoption name UCI_Variant value herculean\n";
    let after = "position startpos moves a3a4\neval\n";
    let mut moved = start.clone();
    common::play(&mut moved, "a3a4");
    let expected = format!("Evaluation: {} cp", network.value_of(&moved));

    let output = answer(&format!("{game}{set}{after}setoption name EvalFile value <empty>\n{after}"));
    let values: Vec<&str> = output.lines().filter(|line| line.starts_with("Evaluation: ")).collect();
    assert!(values[0].starts_with(&expected) && !values[1].starts_with(&expected), "{output}");

    // Interfaces set options in any order, and another game uses its weights meanwhile.
    let output = answer(&format!("{set}{game}{after}setoption name UCI_Variant value chess\neval\n{game}{after}"));
    assert_eq!(output.lines().filter(|line| line.starts_with(&expected)).count(), 2, "{output}");
    assert!(output.contains("the network is for variant \"herculean\""), "{output}");
    assert!(output.contains("it is not used"), "{output}");

    let best = searched(&start, &network, 3_000).best.map(|mv| start.move_text(mv)).unwrap();
    assert!(answer(&format!("{game}{set}go nodes 3000\n")).ends_with(&format!("bestmove {best}\n")));
}

#[test]
fn xboard_sessions_take_a_network_too() {
    let (_, path) = saved("chess", 64);
    let mut output = Vec::new();
    let script = format!("xboard\nprotover 2\noption EvalFile={}\noption EvalFile=/nowhere.net\n", path.display());
    fairyforge_engine::protocol::xboard::run(script.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("feature option=\"EvalFile -file \""), "{output}");
    assert_eq!(output.lines().filter(|line| line.starts_with("tellusererror")).count(), 1, "{output}");
}

#[test]
fn the_bench_number_is_that_of_the_values_with_a_network_beside() {
    let game = variant("herculean");
    let (file, _) = saved("herculean", 512);
    let (alone, beside) = (Bench::run(&game, 4), Bench::run_beside(&game, 4, Some(Network::new(file))));
    assert_eq!(alone.bench, beside.bench);
    assert!(alone.network.is_none() && !alone.to_string().contains("network"));
    let speed = beside.network.clone().unwrap();
    assert_eq!((speed.width, speed.search_nodes), (512, beside.search_nodes));
    assert!(speed.ratio > 0.0 && beside.to_string().contains("of the speed with the a-priori values"));
}

/// A follower must hear of nothing that did not happen: the changes of a move lead from its inputs to the next ones.
#[test]
fn observers_hear_how_many_men_are_left_in_hand() {
    struct Drops(Vec<u8>);
    impl Observer for Drops {
        fn placed(&mut self, _: Piece, _: Square) {}
        fn lifted(&mut self, _: Piece, _: Square) {}
        fn dropped(&mut self, _: Piece, left: u8) {
            self.0.push(left);
        }
    }
    let game = variant("sorcerer-reinforcements");
    let mut position = Position::start(&game);
    let mut random = seeded();
    let mut heard = 0;
    for _ in 0..200 {
        let Some(mv) = random_move(&position, &mut random) else { break };
        let side = position.side_to_move();
        let mut drops = Drops(Vec::new());
        position.make(mv, &mut drops);
        if let fairyforge_engine::moves::MoveKind::Drop(unit) = mv.kind() {
            assert_eq!(drops.0, [position.in_hand(unit, side)]);
            heard += 1;
        } else {
            assert!(drops.0.is_empty());
        }
    }
    assert!(heard > 0);
}

/// With weights below, a network's value is its own and theirs, along every line, and moves are guessed at as they do.
#[test]
fn the_weights_below_a_network_are_added_move_by_move() {
    for name in ["chess", "herculean", "sorcerer-reinforcements"] {
        let variant = variant(name);
        let features = plain(&variant, 64);
        let alone = file_of(quantised(&features, &random_parameters(&features, 5)));
        let weights = Weights::best_known(&variant);
        let base = Tapered::new(&variant, &weights);
        let above = NetworkFile { base: Some(weights), ..alone.clone() };
        let above = NetworkFile::from_bytes(&variant, &above.to_bytes().unwrap()).unwrap();
        let (alone, above) = (Network::new(alone), Network::new(above));
        let (mut random, mut position) = (seeded(), Position::start(&variant));
        let mut line = above.line(&position, 80);
        for ply in 0..79 {
            let moves = position.legal_moves();
            let Some(&mv) = moves.get(random.next_u32() as usize % moves.len().max(1)) else { break };
            position.make(mv, &mut above.follow(&mut line, ply));
            let expected = alone.value_of(&position) + base.value_of(&position);
            assert_eq!(above.value(&position, &mut line, ply + 1), expected, "{name} {ply}");
            assert_eq!(above.value_of(&position), expected, "{name} {ply}");
            let piece = position.piece_at(mv.to());
            assert_eq!(above.step_gain(piece, mv.from(), mv.to()), base.step_gain(piece, mv.from(), mv.to()));
        }
    }
}

#[test]
fn a_base_is_weights_of_the_same_game() {
    let with_base = |text: &str| {
        let base = serde_json::to_string(text).unwrap();
        read(&with_header(|header| header.replacen("\"unit_values\"", &format!("\"base\":{base},\"unit_values\""), 1)))
    };
    let own = Weights::a_priori(&tiny());
    assert_eq!(with_base(&own.to_toml(&tiny())).unwrap().base, Some(own));
    let chess = variant("chess");
    for wrong in ["", "a knight is worth three", &Weights::a_priori(&chess).to_toml(&chess)] {
        let error = with_base(wrong).unwrap_err();
        assert!(matches!(error, NetworkFileError::Base(_)), "{error}");
    }
}
