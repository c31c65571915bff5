//! Run independent jobs on a few threads: the only place where threads are spawned.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `job(0)`, …, `job(count - 1)` on at most `threads` threads; results in job order.
///
/// A job must not depend on when or where it runs; then neither does any result.
///
/// # Panics
/// If a job panics.
pub fn run_jobs<T: Send>(
    count: usize,
    threads: NonZero<usize>,
    job: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if threads.get() == 1 || count <= 1 {
        return (0..count).map(job).collect();
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.get().min(count) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = job(index);
                    *results[index].lock().expect("no job panicked") = Some(result);
                }
            });
        }
    });
    results
        .into_iter()
        .map(|slot| slot.into_inner().expect("no job panicked").expect("every job ran"))
        .collect()
}
