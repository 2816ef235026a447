//! Work on many slots by several threads. What a chunk gives never depends on which thread does it, or when.

use super::Stage;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Slots that a thread takes at once.
const CHUNK: u64 = 1 << 15;

/// How work is to be done: by how many threads, until when, and who hears of it.
pub struct Work<'a> {
    /// Threads; 0 is one a core.
    pub threads: usize,
    /// Set from elsewhere to stop: what was begun is given up.
    pub stop: &'a AtomicBool,
    /// Hears how far the work is, from any thread.
    pub report: &'a (dyn Fn(Stage) + Sync),
}

impl Work<'_> {
    /// What `task` gives for each chunk of `0..count`, in their order; `None` if it was stopped. `stage` is told how many are done.
    pub(super) fn over<T: Send>(
        &self,
        count: u64,
        stage: impl Fn(u64) -> Stage + Sync,
        task: impl Fn(Range<u64>) -> T + Sync,
    ) -> Option<Vec<T>> {
        let chunks = count.div_ceil(CHUNK);
        let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let results = Mutex::new(Vec::new());
        let worker = || {
            let mut own = Vec::new();
            while !self.stop.load(Ordering::Relaxed) {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= chunks {
                    break;
                }
                let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(count);
                let length = range.end - range.start;
                own.push((chunk, task(range)));
                (self.report)(stage(done.fetch_add(length, Ordering::Relaxed) + length));
            }
            if let Ok(mut results) = results.lock() {
                results.extend(own);
            }
        };
        self.on_threads(chunks, worker);
        let mut results = results.into_inner().unwrap_or_default();
        if results.len() as u64 != chunks {
            return None;
        }
        results.sort_by_key(|(chunk, _)| *chunk);
        Some(results.into_iter().map(|(_, result)| result).collect())
    }

    fn on_threads(&self, chunks: u64, worker: impl Fn() + Sync) {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads == 0 { cores() } else { self.threads };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(chunks as usize) {
                scope.spawn(&worker);
            }
            worker();
        });
    }
}
