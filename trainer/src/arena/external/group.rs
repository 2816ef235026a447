//! A process that leads a group of its own, so that whatever it starts ends with it.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at a process that is to end.
const GLANCE: Duration = Duration::from_millis(1);
/// For the end of a process that was killed. Only the system itself can keep it longer.
const END_AFTER_KILL: Duration = Duration::from_secs(2);

/// The groups that are alive. Whoever holds a clone can end them all, from any thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(Arc<Mutex<BTreeSet<u32>>>);

impl Groups {
    /// Kills every process of every group.
    pub fn kill(&self) {
        self.alive().iter().for_each(|&leader| system::kill_group(leader));
    }

    /// What is done while this is held sees no group begin or end. A thread that panicked leaves the set whole.
    fn alive(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ends of the pipes to a process.
pub(super) struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub errors: ChildStderr,
}

/// The first process of a group. The group is killed at the latest when this is dropped.
pub(super) struct Leader {
    child: Child,
    groups: Groups,
    /// Set once the child has been waited for: its number may belong to another process from then on.
    status: Option<ExitStatus>,
}

impl Leader {
    /// Starts a process at the head of a new group.
    pub fn start(mut command: Command, groups: &Groups) -> io::Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        system::at_the_head_of_a_group(&mut command);
        let mut alive = groups.alive();
        let mut child = command.spawn()?;
        alive.insert(child.id());
        drop(alive);
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let leader = Self { child, groups: groups.clone(), status: None };
        match (input, output, errors) {
            (Some(input), Some(output), Some(errors)) => Ok((leader, Pipes { input, output, errors })),
            _ => Err(io::Error::other("a process without its pipes")),
        }
    }

    /// Whether the process has ended. It is not waited for yet, so its group keeps its number.
    pub fn has_ended(&mut self) -> bool {
        self.status.is_some() || system::has_ended(&mut self.child)
    }

    /// Looks so long whether the process ends by itself.
    pub fn ends_within(&mut self, patience: Duration) -> bool {
        let began = Instant::now();
        while !self.has_ended() {
            if began.elapsed() >= patience {
                return false;
            }
            sleep(GLANCE);
        }
        true
    }

    /// Kills what is left of the group and waits for the process; how that ended, unless the system keeps it.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_some() {
            return self.status;
        }
        system::kill_group(self.child.id());
        // Elsewhere than on Unix there is no group to kill, only the process.
        let _ = self.child.kill();
        if self.ends_within(END_AFTER_KILL) {
            let mut alive = self.groups.alive();
            self.status = self.child.wait().ok();
            alive.remove(&self.child.id());
        }
        self.status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    pub fn at_the_head_of_a_group(command: &mut Command) {
        command.process_group(0);
    }

    /// Whoever cannot be waited for is not there any more.
    pub fn has_ended(child: &mut Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
    }

    pub fn kill_group(leader: u32) {
        if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
            // A group without processes is as good as a killed one.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::process::{Child, Command};

    pub fn at_the_head_of_a_group(_: &mut Command) {}

    pub fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub fn kill_group(_: u32) {}
}
