//! Run independent jobs on a few threads, and let each use the threads that jobs leave free.

use std::collections::VecDeque;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use posteria_linalg::with_threads;

/// Runs `job(0)`, …, `job(count - 1)` on at most `threads` threads; results in job order.
///
/// A job must not depend on when or where it runs; then neither does any result. Where there are
/// more threads than jobs, the linear algebra of each job may use its share of them, which
/// changes no result either.
///
/// # Panics
/// If a job panics.
pub fn run_jobs<T: Send>(
    count: usize,
    threads: NonZero<usize>,
    job: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let workers = threads.get().min(count).max(1);
    let share = NonZero::new(threads.get() / workers).expect("at most one worker per thread");
    if workers == 1 {
        return with_threads(share, || (0..count).map(job).collect());
    }
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = with_threads(share, || job(index));
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

/// Runs `jobs` in turns on at most `threads` threads: a thread takes the job that has waited
/// longest, calls `turn` on it once, and puts it back until `turn` breaks with its result.
/// Results in job order.
///
/// All jobs advance together however few the threads, so that long jobs can be watched,
/// compared and interrupted together. As for [`run_jobs`], a job must not depend on when or
/// where its turns run.
///
/// # Panics
/// If a turn panics.
pub fn run_in_turns<J: Send, T: Send>(
    jobs: Vec<J>,
    threads: NonZero<usize>,
    turn: impl Fn(&mut J) -> ControlFlow<T> + Sync,
) -> Vec<T> {
    let count = jobs.len();
    let waiting: Mutex<VecDeque<(usize, J)>> = Mutex::new(jobs.into_iter().enumerate().collect());
    let worker = |_| {
        let mut results = Vec::new();
        loop {
            let next = waiting.lock().expect("no turn panicked").pop_front();
            // A thread without a job leaves: those at work put their own jobs back and go on.
            let Some((index, mut job)) = next else { break };
            match turn(&mut job) {
                ControlFlow::Continue(()) => {
                    waiting.lock().expect("no turn panicked").push_back((index, job));
                }
                ControlFlow::Break(result) => results.push((index, result)),
            }
        }
        results
    };
    let workers = threads.get().min(count);
    let mut results: Vec<(usize, T)> =
        run_jobs(workers, threads, worker).into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_share_the_threads_that_they_leave_free() {
        for (count, threads, expected) in
            [(0, 4, 4), (1, 4, 4), (2, 4, 2), (3, 4, 1), (4, 4, 1), (9, 4, 1), (3, 7, 2), (5, 1, 1)]
        {
            let threads = NonZero::new(threads).unwrap();
            let shares = run_jobs(count, threads, |_| posteria_linalg::threads().get());
            assert_eq!(shares, vec![expected; count]);
            let jobs: Vec<usize> = (0..count).collect();
            let shares = run_in_turns(jobs, threads, |_| {
                ControlFlow::Break(posteria_linalg::threads().get())
            });
            assert_eq!(shares, vec![expected; count]);
        }
        assert_eq!(posteria_linalg::threads().get(), 1);
    }
}
