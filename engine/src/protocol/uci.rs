//! The Universal Chess Interface, with variants as Fairy-Stockfish does them.
//!
//! [`run`] is a whole session over any pair of streams. Squares, positions and moves are written as the project's files
//! write them. A search runs beside the session, so `stop`, `isready` and `quit` are heard at any time; a command that
//! would change what is searched waits for the search, or stops it if it has no end of its own. Whatever cannot be
//! understood or done is answered with an `info string` and changes nothing.

use super::command::{self, Assignment, Command};
use super::engine::Engine;
use super::lines::Hearer;
use super::options::{self, Setting};
use super::thinking::{Thinking, UciListener};
use super::voice::Voice;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::thread::{self, Scope};

/// Converses until `quit` or the end of the input. At the end of the input a search that ends by itself still answers.
///
/// # Errors
/// A stream fails; a listener that has gone away is such a failure.
///
/// ```
/// let mut output = Vec::new();
/// fairyforge_engine::protocol::uci::run("uci\n".as_bytes(), &mut output)?;
/// assert!(output.ends_with(b"uciok\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run(input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let voice = Voice::new(output);
    thread::scope(|scope| {
        let engine = Engine::new().map_err(io::Error::other)?;
        let mut session = Session { scope, voice: &voice, engine, thinking: None };
        let result = session.listen(input);
        session.stop();
        result.and(session.settle())
    })
}

/// One conversation.
struct Session<'scope, 'env, W> {
    scope: &'scope Scope<'scope, 'env>,
    voice: &'env Voice<W>,
    engine: Engine,
    /// The last work begun, finished or not, until it is settled.
    thinking: Option<Thinking<'scope>>,
}

impl<W> Drop for Session<'_, '_, W> {
    /// However the session ends: the scope waits for its threads, so none may wait for a `stop` that cannot come.
    fn drop(&mut self) {
        if let Some(thinking) = &self.thinking {
            thinking.stop();
        }
    }
}

impl<W: Write + Send> Hearer for Session<'_, '_, W> {
    fn hear(&mut self, line: &str) -> io::Result<ControlFlow<()>> {
        match command::parse(line) {
            Ok(Command::Quit) => Ok(ControlFlow::Break(())),
            Ok(command) => self.obey(&command).map(ControlFlow::Continue),
            Err(error) => self.voice.remark(error).map(ControlFlow::Continue),
        }
    }

    fn refuse_line(&mut self, expected: &str) -> io::Result<()> {
        self.voice.remark(format_args!("expected {expected}, got another line"))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.settle()
    }
}

impl<'env: 'scope, 'scope, W: Write + Send> Session<'scope, 'env, W> {
    fn obey(&mut self, command: &Command<'_>) -> io::Result<()> {
        match command {
            Command::Nothing | Command::Quit => Ok(()),
            Command::Uci => self.introduce(),
            Command::IsReady => self.voice.say("readyok"),
            Command::Stop => {
                self.stop();
                Ok(())
            }
            Command::Draw => self.voice.say(self.engine.drawing()),
            Command::Moves => self.voice.say(self.engine.move_list()),
            Command::Evaluate => {
                self.voice.say(format_args!("Evaluation: {} cp (side to move)", self.engine.static_value()))
            }
            Command::Params => self.voice.remark(self.engine.param_list()),
            other => {
                self.settle()?;
                self.obey_at_rest(other)
            }
        }
    }

    /// The commands that need the engine for themselves.
    fn obey_at_rest(&mut self, command: &Command<'_>) -> io::Result<()> {
        let done = match command {
            Command::NewGame => {
                self.engine.begin_game();
                Ok(())
            }
            Command::Position(setup) => self.engine.set_up(setup),
            Command::SetOption(assignment) => return self.set_option(assignment),
            Command::Go(go) => match self.engine.task(go) {
                Ok(task) => {
                    self.voice.remark(task.advice.remarks.join("\n"))?;
                    self.thinking = Some(Thinking::search(self.scope, task, UciListener(self.voice))?);
                    Ok(())
                }
                Err(error) => {
                    // Whoever says `go` waits for an answer.
                    self.voice.remark(error)?;
                    return self.voice.say("bestmove (none)");
                }
            },
            Command::Perft(depth) => {
                let position = self.engine.position().clone();
                self.thinking = Some(Thinking::perft(self.scope, self.voice, position, *depth)?);
                Ok(())
            }
            _ => Ok(()),
        };
        done.or_else(|error| self.voice.remark(error))
    }

    fn introduce(&self) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        self.voice.say(format_args!("id name Fairyforge {version}\nid author the Fairyforge authors"))?;
        self.voice.say(format_args!("{}\nuciok", options::offer(self.engine.games_from_files())))
    }

    fn set_option(&mut self, assignment: &Assignment<'_>) -> io::Result<()> {
        let setting = match options::setting(assignment) {
            Ok(setting) => setting,
            Err(error) => return self.voice.remark(error),
        };
        let done = match setting {
            Setting::Variant(None) => Ok(()),
            Setting::Variant(Some(name_or_path)) => return self.set_variant(&name_or_path),
            Setting::Hash(mebibytes) => self.engine.set_hash(mebibytes),
            Setting::Weights(path) => self.engine.set_weights(path),
            Setting::EvalFile(path) => self.engine.set_network(path),
            Setting::SearchFile(path) => self.engine.set_search_file(path),
            Setting::EndgamePath(path) => match self.engine.set_endgames(path) {
                Ok(remarks) => return self.voice.remark(remarks.join("\n")),
                Err(error) => Err(error),
            },
            Setting::Book(setting) => match self.engine.set_book(setting) {
                Ok(remarks) => return self.voice.remark(remarks.join("\n")),
                Err(error) => Err(error),
            },
            Setting::Param(param, value) => self.engine.set_param(param, value),
            Setting::ClearHash => {
                self.engine.forget();
                Ok(())
            }
        };
        done.or_else(|error| self.voice.remark(error))
    }

    fn set_variant(&mut self, name_or_path: &str) -> io::Result<()> {
        match self.engine.set_variant(name_or_path) {
            Ok(remarks) => {
                self.voice.remark(self.engine.introduction())?;
                self.voice.remark(remarks.join("\n"))
            }
            Err(error) => self.voice.remark(error),
        }
    }

    fn stop(&self) {
        if let Some(thinking) = &self.thinking {
            thinking.stop();
        }
    }

    /// Waits until nothing goes on beside the session.
    fn settle(&mut self) -> io::Result<()> {
        match self.thinking.take().map(Thinking::settle) {
            Some(Ok(Some((memory, ())))) => self.engine.give_back(memory),
            Some(Err(_)) => self.voice.remark("the search failed; its memory is lost")?,
            Some(Ok(None)) | None => {}
        }
        Ok(())
    }
}
