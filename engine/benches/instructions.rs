//! One hot path, some number of times, for a tool that counts instructions (`engine/tests/instructions/check.py`): what
//! a time more costs is the difference of two counts, free of whatever comes before.

mod work;

use std::hint::black_box;
use work::{PATHS, VARIANTS, Work};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [path, variant, times] = words.as_slice()
        && let (Some((_, run)), Ok(times)) = (PATHS.iter().find(|known| known.0 == path), times.parse::<u32>())
    {
        let work = Work::of(variant);
        (0..times).for_each(|_| {
            black_box(run(&work));
        });
        return;
    }
    let paths = PATHS.map(|path| path.0).join(", ");
    println!("usage: instructions PATH VARIANT TIMES\npaths: {paths}\nvariants: {}", VARIANTS.join(", "));
}
