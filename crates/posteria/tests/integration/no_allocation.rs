//! Count allocations of the thread: a chain at work makes none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use posteria::fit::Chain;
use posteria::random::Seed;
use posteria::sample::hmc::{Hmc, HmcOptions, Nuts, NutsOptions, Persistence};
use posteria::sample::{Kernel, Plan};

use crate::toy::Toy;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn check(name: &str, kernel: fn(usize) -> Box<dyn Kernel>) {
    let toy = Toy::new(kernel);
    let plan = Plan::new(1, 200, 500);
    let mut chain = Chain::start(&toy, &plan, Seed(3), 0).expect("a usable start");
    for _ in 0..200 {
        chain.advance();
    }
    let before = allocations();
    for _ in 0..500 {
        assert!(chain.advance());
        std::hint::black_box(chain.report());
    }
    assert_eq!(allocations() - before, 0, "{name} allocates");
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(vec![0.0_f64; 10]));
    assert_eq!(allocations() - before, 1);
}

#[test]
fn hybrid_monte_carlo_and_gibbs_allocate_nothing() {
    check("HMC", |dim| Box::new(Hmc::new(dim, HmcOptions::default())));
    check("windowed persistent HMC", |dim| {
        let persistence = Persistence { decay: 0.9, reset_every: 10 };
        Box::new(Hmc::new(dim, HmcOptions { window: 4, persistence, ..HmcOptions::default() }))
    });
}

#[test]
fn the_no_u_turn_sampler_allocates_nothing() {
    check("NUTS", |dim| Box::new(Nuts::new(dim, NutsOptions::default())));
}
