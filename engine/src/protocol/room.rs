//! Whether there is memory for a table. A program that asks for more than there is gets killed, not told.

/// Whether so many mebibytes can be had, as far as the system says.
pub(super) fn has_room_for(mebibytes: usize) -> bool {
    let Some(bytes) = mebibytes.checked_mul(1 << 20) else { return false };
    let told = [machine_has_left(), container_has_left()].into_iter().flatten().min();
    told.is_none_or(|left| bytes as u64 <= left) && Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Bytes that Linux calls available.
fn machine_has_left() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Bytes below the limit of the container, if there is one.
fn container_has_left() -> Option<u64> {
    let read = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_fits_and_everything_does_not() {
        assert!(has_room_for(1));
        assert!(!has_room_for(usize::MAX));
        assert!(!has_room_for(1 << 40));
    }
}
