//! A run on disk: made, continued, refused, damaged.

use super::files::{folder_of, temporary_name};
use super::shards::first_game_in_name;
use super::*;
use std::io::Write;

const PLAN_TEXT: &str = "seed = 7\n[selfplay]\ngames = 100 # enough\nnodes = 500\n";

fn open(path: &Path) -> Result<RunDir, RunDirError> {
    RunDir::create_or_resume(path, PLAN_TEXT, "0.1.0")
}

fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = folder_entries(path).unwrap();
    files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

#[test]
fn a_new_run_keeps_its_plan_and_version() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("runs/first");
    let run = open(&root).unwrap();
    assert!(!run.is_resumed());
    assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
    assert_eq!(run.versions().unwrap(), ["0.1.0"]);
}

#[test]
fn the_same_plan_resumes_whatever_its_spacing_and_version() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let same = "seed = 7\nselfplay = { nodes = 500, games = 100 }";
    let run = RunDir::create_or_resume(dir.path(), same, "0.2.0").unwrap();
    assert!(run.is_resumed());
    assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
    assert_eq!(run.versions().unwrap(), ["0.1.0", "0.2.0"]);
    assert_eq!(run.began_by().unwrap(), "0.1.0");
}

#[test]
fn another_plan_is_refused_with_its_keys_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let before = contents(dir.path());
    let other = "[selfplay]\ngames = 200\nnodes = 500\n[fit]\nridge = 0.5";
    let error = RunDir::create_or_resume(dir.path(), other, "0.2.0").unwrap_err();
    let message = error.to_string();
    assert!(message.contains("plan.toml was started with another plan; nothing was changed"), "{message}");
    assert!(message.contains("\n  fit.ridge: recorded nothing, asked for 0.5"), "{message}");
    assert!(message.contains("\n  seed: recorded 7, asked for nothing"), "{message}");
    assert!(message.contains("\n  selfplay.games: recorded 100, asked for 200"), "{message}");
    assert!(!message.contains("nodes"), "{message}");
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_run_may_be_lengthened_but_neither_shortened_nor_changed() {
    let plan = |generations: u32, seed: u32| format!("generations = {generations}\nseed = {seed}\n");
    let dir = tempfile::tempdir().unwrap();
    let open = |plan: &str| RunDir::create_or_lengthen(dir.path(), plan, "0.1.0", "generations");
    drop(open(&plan(2, 7)).unwrap());
    for other in [plan(1, 7), plan(3, 8)] {
        let message = open(&other).unwrap_err().to_string();
        assert!(message.contains("\n  generations: recorded 2, asked for"), "{message}");
    }
    assert!(RunDir::create_or_resume(dir.path(), plan(3, 7).as_str(), "0.1.0").is_err());
    let run = open(&plan(3, 7)).unwrap();
    assert!(run.is_resumed());
    assert_eq!(fs::read_to_string(run.plan()).unwrap(), plan(3, 7));
}

#[test]
fn a_run_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).unwrap();
    let message = open(dir.path()).unwrap_err().to_string();
    assert!(message.contains(&format!("in use by process {}", std::process::id())), "{message}");
    drop(first);
    assert!(open(dir.path()).unwrap().is_resumed());
}

#[test]
fn a_folder_with_other_things_is_not_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "years of work").unwrap();
    let message = open(dir.path()).unwrap_err().to_string();
    assert!(message.contains("found \"thesis.tex\""), "{message}");
    assert_eq!(contents(dir.path()).len(), 1);
}

#[test]
fn a_run_killed_while_it_was_created_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    for name in [LOCK, VERSION, "plan.toml.tmp"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    let run = open(dir.path()).unwrap();
    assert!(!run.is_resumed());
    assert_eq!(fs::read_to_string(run.plan()).unwrap(), PLAN_TEXT);
}

#[test]
fn a_run_below_a_file_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let message = open(&file.join("run")).unwrap_err().to_string();
    assert!(message.contains("cannot create folder") && message.contains("file/run"), "{message}");
    assert!(open(&file).is_err());
}

#[test]
fn names_are_as_documented() {
    let paths = RunPaths::new("run");
    assert_eq!(paths.selfplay(1), Path::new("run/selfplay/001"));
    assert_eq!(paths.weights(12), Path::new("run/weights/012.toml"));
    assert_eq!(paths.rejected(3), Path::new("run/rejected/003.toml"));
    assert_eq!(paths.gate(2, 1).journal, Path::new("run/gate/002-vs-001.jsonl"));
    assert_eq!(paths.gate(2, 1).verdict, Path::new("run/gate/002-vs-001.toml"));
    assert_eq!(paths.report(), Path::new("run/report.md"));
}

#[test]
fn only_the_last_checkpoints_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = open(dir.path()).unwrap();
    assert_eq!(run.checkpoint_batches().unwrap(), [0_u64; 0]);
    for batches in [1_500, 500, 123_456_789, 1_000] {
        write_atomically(&run.checkpoint(batches), b"").unwrap();
    }
    for foreign in ["500.checkpoint", "00002000.checkpoint.tmp", "notes"] {
        fs::write(run.checkpoints().join(foreign), "").unwrap();
    }
    assert_eq!(run.checkpoint_batches().unwrap(), [500, 1_000, 1_500, 123_456_789]);
    run.thin_checkpoints(3).unwrap();
    assert_eq!(run.checkpoint_batches().unwrap(), [1_000, 1_500, 123_456_789]);
    run.thin_checkpoints(5).unwrap();
    assert_eq!(run.checkpoint_batches().unwrap().len(), 3);
}

#[test]
fn a_shard_is_finished_when_both_its_files_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let run = open(dir.path()).unwrap();
    assert_eq!(run.finished_shards(1).unwrap(), [0_u64; 0]);
    let names = [
        "positions-00000256.parquet",
        "games-00000256.parquet",
        "positions-00000000.parquet",
        "games-00000000.parquet",
        "positions-00000512.parquet",
        "games-00000512.parquet.tmp",
        "games-768.parquet",
    ];
    for name in names {
        write_atomically(&run.selfplay(1).join(name), b"").unwrap();
    }
    assert_eq!(run.finished_shards(1).unwrap(), [0, 256]);
    let listing = list_shards(&run.selfplay(1)).unwrap();
    assert_eq!(listing.shards[2], ShardFiles::new(&run.selfplay(1), 512));
    assert_eq!(listing.temporary, [run.selfplay(1).join("games-00000512.parquet.tmp")]);
    assert_eq!(listing.foreign, [run.selfplay(1).join("games-768.parquet")]);
    assert_eq!(run.clean_tmp().unwrap(), listing.temporary);
    assert!(list_shards(&run.selfplay(1)).unwrap().temporary.is_empty());
}

#[test]
fn large_game_numbers_keep_all_their_digits() {
    let files = ShardFiles::new(Path::new("x"), 12_345_678_901);
    assert_eq!(files.games, Path::new("x/games-12345678901.parquet"));
    assert_eq!(first_game_in_name(&files.positions), Some(12_345_678_901));
}

#[test]
fn events_are_whole_lines_even_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let run = open(dir.path()).unwrap();
    run.append_event(&serde_json::json!({"event": "started"})).unwrap();
    let path = run.events();
    drop(run);
    let mut torn = fs::read(&path).unwrap();
    torn.extend(b"{\"event\": \"sta");
    fs::write(&path, torn).unwrap();
    let run = open(dir.path()).unwrap();
    run.append_event(&serde_json::json!({"event": "resumed"})).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "{\"event\":\"started\"}\n{\"event\":\"resumed\"}\n");
}

#[test]
fn an_atomic_write_replaces_the_file_or_leaves_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/folder/card.toml");
    write_atomically(&path, b"one").unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(contents(folder_of(&path)), [(path.clone(), b"two".to_vec())]);
    let in_the_way = dir.path().join("in the way");
    fs::create_dir(&in_the_way).unwrap();
    let message = write_atomically(&in_the_way, b"three").unwrap_err().to_string();
    assert!(message.starts_with("cannot rename into place"), "{message}");
    assert!(!temporary_name(&in_the_way).exists());
}

/// Takes some bytes, then is full.
struct SmallDisk(usize);

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_fills_up_is_an_error_with_the_path() {
    let error = write_bytes(&mut SmallDisk(3), b"four", Path::new("there")).unwrap_err();
    assert_eq!((error.action, error.path.as_path()), ("write", Path::new("there")));
    assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    write_bytes(&mut SmallDisk(4), b"four", Path::new("there")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_keeps_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("card.toml");
    write_atomically(&path, b"old").unwrap();
    std::os::unix::fs::symlink("/dev/full", temporary_name(&path)).unwrap();
    let error = write_atomically(&path, b"new").unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    assert_eq!(contents(dir.path()), [(path, b"old".to_vec())]);
}
