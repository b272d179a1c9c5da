//! A run as a zip, and files of any kind opened: what is written comes back, and a bomb does not go off.

use super::draw::Draw;
use super::export::{log, sigmoids};
use super::memory::peak;
use ::zip::write::SimpleFileOptions;
use ::zip::{ZipArchive, ZipWriter};
use plateau::export::open::{MAX_BYTES, Opened, open_bytes};
use plateau::export::{csv, folder, json, toml, zip};
use plateau::runlog::RunLog;
use std::io::{Cursor, Read, Write};

const MIB: usize = 1 << 20;

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("begun");
        zip.write_all(bytes).expect("packed");
    }
    zip.finish().expect("ended").into_inner()
}

/// `run.json` and `metrics.csv`.
fn parts(log: &RunLog) -> [Vec<u8>; 2] {
    let mut parts = [Vec::new(), Vec::new()];
    json::write(log, &mut parts[0]).expect("memory takes it");
    csv::write(log, &mut parts[1]).expect("memory takes it");
    parts
}

fn complaint(bytes: &[u8]) -> String {
    let (result, used) = peak(|| open_bytes("run.zip", bytes).map(|_| ()));
    let said = result.expect_err("no run");
    assert!(said.starts_with("run.zip: ") && !said.contains('\n') && said.len() < 500, "{said}");
    assert!(used < 40 * MIB, "{used} bytes in use: {said}");
    said
}

#[test]
fn a_zip_holds_what_the_folder_holds() {
    let log = log(3, 4, 20, sigmoids);
    let bytes = zip::write(&log).expect("packed");
    assert_eq!(bytes, zip::write(&log).expect("packed"), "equal logs give equal bytes");
    let place = tempfile::tempdir().expect("a temporary folder");
    let kept =
        folder::RunFolder::claim(&place.path().join("run")).and_then(|claim| claim.keep(&log)).expect("kept");
    let mut archive = ZipArchive::new(Cursor::new(&bytes)).expect("a zip");
    assert_eq!(archive.len(), std::fs::read_dir(&kept).expect("there").count());
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).expect("there");
        let mut content = Vec::new();
        file.read_to_end(&mut content).expect("whole");
        assert_eq!(content, std::fs::read(kept.join(file.name())).expect("the same file"), "{}", file.name());
    }
    assert!(zip::read(&bytes).expect("our own file").same_run(&log));
    assert!(matches!(open_bytes("x", &bytes), Ok(Opened::Run(read)) if read.same_run(&log)));
    assert_eq!(
        zip::write(&RunLog::default()),
        Err("cannot pack run.json: there is no run to write".to_owned())
    );
}

#[test]
fn a_run_of_equal_numbers_is_no_bomb() {
    for value in [f32::NAN, 1.4] {
        let log = log(64, 8, 1_000, |_, _, _| value);
        let bytes = zip::write(&log).expect("packed");
        let text = parts(&log)[1].len();
        assert!(text > 8 * bytes.len(), "{text} bytes packed into {}: no test of the limit", bytes.len());
        assert!(zip::read(&bytes).expect("our own file").same_run(&log));
    }
}

#[test]
fn names_only_say_where_the_run_is() {
    let log = log(2, 2, 3, sigmoids);
    let [run, metrics] = parts(&log);
    let at = |folder: &str| {
        let names = [format!("{folder}run.json"), format!("{folder}metrics.csv")];
        packed(&[
            ("../../etc/passwd", b"x"),
            (&names[0], &run),
            ("/abs/olute", b"x"),
            (&names[1], &metrics),
            ("é", b""),
        ])
    };
    for folder in ["", "run/", "my run.v2/", "../"] {
        match zip::read(&at(folder)) {
            Ok(read) => assert!(read.same_run(&log) && folder != "../"),
            Err(said) => assert!(folder == "../" && said.contains("without a run.json"), "{said}"),
        }
    }
    for folder in ["/", "a/b/", "..\\", "/run/", "//"] {
        assert!(complaint(&at(folder)).contains("without a run.json"), "{folder}");
    }
    assert!(complaint(&packed(&[("run.json", &run)])).contains("metrics.csv: "));
    assert!(complaint(&packed(&[("metrics.csv", &metrics)])).contains("without a run.json"));
    assert!(complaint(&packed(&[])).contains("without a run.json"));
    let short = &metrics[..metrics.len() / 2];
    assert!(complaint(&packed(&[("run.json", &run), ("metrics.csv", short)])).contains("metrics.csv: line "));
    assert!(complaint(&packed(&[("run.json", b"{}"), ("metrics.csv", &metrics)])).contains("run.json: "));
}

/// Writes `value` over every sum of the sizes of unpacked files that equals `old`.
fn relabel(bytes: &mut [u8], old: u32, value: u32) {
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == old.to_le_bytes() {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
    }
}

#[test]
fn bombs_are_refused_in_one_line() {
    let [run, metrics] = parts(&log(2, 2, 3, sigmoids));
    let zeros = vec![b'0'; 48 * MIB];
    let lines = metrics.repeat(20_000);
    let bomb = packed(&[("run.json", &zeros), ("metrics.csv", &metrics)]);
    assert!(complaint(&bomb).contains("run.json: 48.0 MiB packed into"), "{}", complaint(&bomb));
    // The label says that it is small.
    let mut liar = bomb.clone();
    relabel(&mut liar, zeros.len() as u32, 1_000);
    let said = complaint(&liar);
    assert!(said.contains("too much") || said.contains("nvalid"), "{said}");
    let mut rows = packed(&[("run.json", &run), ("metrics.csv", &lines)]);
    assert!(complaint(&rows).contains("metrics.csv: "), "{}", complaint(&rows));
    relabel(&mut rows, lines.len() as u32, metrics.len() as u32);
    assert!(complaint(&rows).contains("metrics.csv: "), "{}", complaint(&rows));
    // In a row of one line without an end, where nothing stops but the limit.
    let mut endless = packed(&[("run.json", &run), ("metrics.csv", &zeros)]);
    relabel(&mut endless, zeros.len() as u32, 10);
    assert!(complaint(&endless).contains("metrics.csv: line 1: "), "{}", complaint(&endless));
}

#[test]
fn promises_of_many_files_reserve_nothing() {
    let names: Vec<String> = (0..65).map(|i| format!("file-{i}")).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    assert!(complaint(&packed(&files)).contains("more than 64 files"));
    let good = zip::write(&log(2, 2, 3, sigmoids)).expect("packed");
    let end = good.len() - 22;
    let mut many = good.clone();
    many[end + 8..end + 12].fill(0xFE);
    complaint(&many);
    // An end of the kind for large archives, which promises 2^26 files in an archive as long as that.
    let mut large = good[..end].to_vec();
    large.resize(80 * MIB / 2, 0);
    let at = large.len() as u64;
    let numbers =
        |out: &mut Vec<u8>, values: &[u64]| values.iter().for_each(|value| out.extend(value.to_le_bytes()));
    large.extend(b"PK\x06\x06");
    numbers(&mut large, &[44, 0x0000_002D_002D, 1 << 25, 1 << 25, 100, at - 200]);
    large.extend(b"PK\x06\x07\0\0\0\0");
    numbers(&mut large, &[at]);
    large.extend([1, 0, 0, 0]);
    large.extend(b"PK\x05\x06\0\0\0\0");
    large.extend([0xFF; 12]);
    large.extend([0, 0]);
    assert!(complaint(&large).contains("very large"));
    assert!(complaint(&good[..end]).contains("without an end"));
    assert!(complaint(&b"PK\x05\x06".repeat(100_000)).contains("more than 64"));
}

#[test]
fn thousands_of_damaged_zips_do_no_harm() {
    let good = zip::write(&log(2, 2, 3, sigmoids)).expect("packed");
    let picture = good.windows(4).position(|window| window == b"\x89PNG").expect("the picture");
    // What is before the picture and after it, which is most of the file.
    let end = good.windows(4).position(|window| window == b"PK\x01\x02").expect("the directory");
    let pieces = [&b"PK\x01\x02"[..], b"PK\x05\x06", b"PK\x03\x04", &[0xFF; 8], &[0; 4], b"run.json", b"../"];
    let mut draw = Draw::new(23);
    for round in 0..5_000 {
        let mut bytes = good.clone();
        for _ in 0..=draw.below(2) {
            let near =
                if draw.below(2) == 0 { draw.below(picture) } else { end + draw.below(good.len() - end) };
            match draw.below(3) {
                0 => bytes.truncate(near),
                1 => drop(bytes.splice(near.min(bytes.len()).., [good[near..].to_vec(), vec![0]].concat())),
                _ => {
                    let piece = *draw.pick(&pieces);
                    let at = near.min(bytes.len().saturating_sub(piece.len()));
                    let len = piece.len().min(bytes.len());
                    bytes[at..at + len].copy_from_slice(&piece[..len]);
                }
            }
            let len = bytes.len();
            if len > 0 {
                bytes[near % len] ^= 1 << draw.below(8);
            }
        }
        let (result, used) = peak(|| open_bytes("run.zip", &bytes));
        assert!(used < 24 * MIB, "round {round}: {used} bytes in use");
        if let Err(said) = result {
            assert!(!said.contains('\n') && said.chars().count() < 500, "{said}");
        }
    }
}

#[test]
fn a_file_is_opened_as_what_it_is() {
    let log = log(2, 3, 4, sigmoids);
    let spec = log.header.as_ref().expect("a run").spec.clone();
    let text = toml::write(&spec).expect("fits");
    let [run, metrics] = parts(&log);
    let opened = |bytes: &[u8]| open_bytes("a file", bytes);
    let as_spec = Ok(Opened::Spec(Box::new(spec)));
    assert_eq!(opened(text.as_bytes()), as_spec);
    assert_eq!(opened(format!("\u{feff}{}", text.replace('\n', "\r\n")).as_bytes()), as_spec);
    assert_eq!(opened(&run), as_spec);
    let deep = format!("a = {}", "[".repeat(100_000));
    let dotted = format!("{}a = 1", "a.".repeat(400_000));
    let header = format!("[{}a]", "a.".repeat(400_000));
    let nested = format!("{{\"spec\": {}", "{\"a\":".repeat(100_000));
    let long = vec![b' '; MAX_BYTES + 1];
    for (bytes, expected) in [
        (&metrics[..], "which need its run.json"),
        (b"\x89PNG\r\n", "no zip, and no UTF-8 text"),
        (b"hello", "no Spec: line 1"),
        (b"", "missing field"),
        (b"{", "line 1"),
        (b"PK", "without an end"),
        (text.replace("depth = 2", "depth = 7").as_bytes(), "no Spec: model.depth: 7"),
        (deep.as_bytes(), "no Spec: "),
        (dotted.as_bytes(), "no Spec: "),
        (header.as_bytes(), "no Spec: "),
        (nested.as_bytes(), "line 1"),
        (&long, "longer than the 67108864 bytes"),
    ] {
        let said = opened(bytes).expect_err("nothing of ours");
        assert!(
            said.starts_with("a file: ") && said.contains(expected),
            "`{said}` does not say `{expected}`"
        );
        assert!(!said.contains('\n') && said.chars().count() < 500, "{said}");
    }
}
