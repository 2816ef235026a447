//! How long the hot paths take: `cargo bench --profile dev -p fairyforge-engine --bench hot_paths`, behind `--` a part of a
//! name. Compare only figures of the same run of the same machine. `fairyforge-engine bench` tells nodes a second.

mod work;

use criterion::{Criterion, criterion_group, criterion_main};
use work::{PATHS, VARIANTS, Work};

fn hot_paths(criterion: &mut Criterion) {
    for variant in VARIANTS {
        let work = Work::of(variant);
        let mut group = criterion.benchmark_group(variant);
        for (path, run) in PATHS {
            group.bench_function(path, |bencher| bencher.iter(|| run(&work)));
        }
    }
}

criterion_group!(benches, hot_paths);
criterion_main!(benches);
