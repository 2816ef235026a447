//! A program beside ours with lines in and lines out. Knows nothing of chess.
//!
//! Nothing here waits longer than it is told to: threads of their own write to the program and read from it, and end when
//! its pipes do.

use super::group::{Groups, Leader, Pipes};
use super::lines::each_line;
use crate::play::{Fault, FaultKind};
use std::io::{self, BufReader, Write};
use std::process::{ChildStdin, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Longest line that is read, in bytes; what comes after is dropped. Room for an option with thousands of choices.
const MOST_BYTES: usize = 1 << 16;
/// Lines that wait to be heard. With all of them taken the program waits, so a flood costs no memory.
const MOST_WAITING: usize = 256;
/// Longest line of the error output that is kept, in bytes.
const MOST_ERROR_BYTES: usize = 400;
/// For the end of a process whose pipe has ended, and for its last words.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Between two looks at whether last words are complete.
const GLANCE: Duration = Duration::from_millis(1);

/// A program that runs.
pub(super) struct Process {
    leader: Leader,
    /// Closed by dropping it.
    input: Option<Sender<String>>,
    output: Receiver<Line>,
    errors: ErrorOutput,
}

/// A line with the moment when it came.
#[derive(Debug)]
pub(super) struct Line {
    pub text: String,
    pub at: Instant,
}

impl Process {
    /// Starts a program at the head of a new group.
    pub fn start(command: Command, groups: &Groups) -> io::Result<Self> {
        let (leader, Pipes { input, output, errors }) = Leader::start(command, groups)?;
        let (to_program, lines) = channel();
        let (from_program, heard) = sync_channel(MOST_WAITING);
        beside("engine input", move || write_lines(input, &lines))?;
        beside("engine output", move || {
            each_line(BufReader::new(output), MOST_BYTES, |text| hear(&from_program, text));
        })?;
        let errors = ErrorOutput::listen(errors)?;
        Ok(Self { leader, input: Some(to_program), output: heard, errors })
    }

    /// Sends lines; never waits for the program to read them.
    ///
    /// # Errors
    /// The program reads no more.
    pub fn say(&mut self, lines: &str) -> Result<(), Fault> {
        let sent = self.input.as_ref().is_some_and(|input| input.send(format!("{lines}\n")).is_ok());
        if sent { Ok(()) } else { Err(self.crash()) }
    }

    /// The next line, if one comes in time.
    ///
    /// # Errors
    /// The program has ended, and everything it said has been heard.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<Line>, Fault> {
        match self.output.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            // Something the program started may hold the pipe open after its end.
            Err(RecvTimeoutError::Timeout) if self.leader.has_ended() => match self.output.recv_timeout(GLANCE) {
                Ok(line) => Ok(Some(line)),
                Err(_) => Err(self.crash()),
            },
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.crash()),
        }
    }

    /// Forgets the lines that wait to be heard. A flood has no end, so only as many as there is room for.
    pub fn forget_unheard(&mut self) {
        self.output.try_iter().take(MOST_WAITING).for_each(drop);
    }

    /// Kills the program with all it started, and waits for that.
    pub fn kill(&mut self) {
        self.input = None;
        self.leader.end();
        // When the last of the group is gone, so is the pipe.
        let began = Instant::now();
        while began.elapsed() < LAST_WORDS {
            if let Err(RecvTimeoutError::Disconnected) = self.output.recv_timeout(GLANCE) {
                return;
            }
        }
    }

    /// Says one last line, and kills what is left after a while.
    pub fn part(&mut self, last_line: &str, patience: Duration) {
        if let Some(input) = self.input.take() {
            let _ = input.send(format!("{last_line}\n"));
        }
        let began = Instant::now();
        // Whoever cannot get rid of its lines cannot end.
        while began.elapsed() < patience && !self.leader.has_ended() {
            self.forget_unheard();
            thread::sleep(GLANCE);
        }
        self.kill();
    }

    /// What happened, and the last line of the error output if there was any.
    pub fn with_last_words(&self, what_happened: String) -> String {
        match self.errors.last_line() {
            Some(words) => format!("{what_happened}; its last words: {words}"),
            None => what_happened,
        }
    }

    /// The program ended, or broke a pipe, which is as good: how, and its last words. Nothing of it is left after that.
    fn crash(&mut self) -> Fault {
        let by_itself = self.leader.ends_within(LAST_WORDS);
        self.kill();
        let end = match self.leader.end() {
            Some(status) if by_itself => format!("the program ended with {status}"),
            _ => "the program closed a pipe without ending".to_owned(),
        };
        Fault { kind: FaultKind::Crash, detail: self.with_last_words(end) }
    }
}

/// The last line that a program wrote for people.
struct ErrorOutput {
    last: Arc<Mutex<Option<String>>>,
    reader: thread::JoinHandle<()>,
}

impl ErrorOutput {
    fn listen(pipe: impl io::Read + Send + 'static) -> io::Result<Self> {
        let last = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&last);
        let reader = beside("engine errors", move || {
            each_line(BufReader::new(pipe), MOST_ERROR_BYTES, |line| {
                if !line.trim().is_empty() {
                    let printable = line.trim().replace(char::is_control, " ");
                    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(printable);
                }
                true
            });
        })?;
        Ok(Self { last, reader })
    }

    /// The last line, after a moment for what is on its way.
    fn last_line(&self) -> Option<String> {
        let began = Instant::now();
        while !self.reader.is_finished() && began.elapsed() < LAST_WORDS {
            thread::sleep(GLANCE);
        }
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn beside(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.into()).spawn(work)
}

/// Until nobody sends any more, or nobody reads any more; the pipe is closed then.
fn write_lines(mut pipe: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if pipe.write_all(line.as_bytes()).and_then(|()| pipe.flush()).is_err() {
            return;
        }
    }
}

fn hear(listener: &SyncSender<Line>, text: String) -> bool {
    listener.send(Line { text, at: Instant::now() }).is_ok()
}
