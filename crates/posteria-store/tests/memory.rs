//! Count allocations: recording takes no memory, and no file makes a reader take too much.

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::fs;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use posteria::draws::Layout;
use posteria::fit::{Chain, Recorder, Report, run};
use posteria::model::{Evaluator, Posterior};
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::{Plan, Step, Sweep, Update};
use posteria::target::{Infeasible, Terms};
use posteria_store::{Axis, Extent, NewRun, Pointwise, Run, RunFolder, RunWriter, WriteOptions};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, memory: Memory) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        let now = NOW.fetch_add(memory.size(), Ordering::Relaxed) + memory.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(memory) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, memory: Memory) {
        NOW.fetch_sub(memory.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, memory) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counters are of the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

struct Still {
    layout: Layout,
}

impl Update for &Still {
    fn name(&self) -> &str {
        "still"
    }

    fn update(&mut self, _state: &mut [f64], _stream: &mut Stream) -> Step {
        Step::default()
    }
}

impl Evaluator for &Still {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        _log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        draw.copy_from_slice(state);
        Ok(Terms { log_prior: 0.0, log_likelihood: 0.0 })
    }
}

impl Posterior for Still {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        3
    }

    fn state_len(&self) -> usize {
        self.layout.len()
    }

    fn start(&self, _stream: &mut Stream) -> Vec<f64> {
        vec![0.5; self.layout.len()]
    }

    fn sweep<'p>(&'p self, _inverse_temperature: f64) -> Sweep<'p> {
        Sweep::new(vec![Box::new(self)])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(self)
    }
}

fn posterior(labels: Vec<String>) -> Still {
    let mut layout = Layout::new();
    layout.push_vector("weights", "input", labels);
    Still { layout }
}

fn create(path: &Path, posterior: &Still, plan: &Plan) -> RunWriter {
    let new = NewRun {
        spec: "",
        layout: posterior.layout(),
        extent: Extent::from(plan),
        pointwise: Some(&Pointwise { name: "y".into(), rows: Axis::rows(3) }),
        observed: &[],
        constant: &[],
        attributes: &[],
        approximation: None,
    };
    RunFolder::create(path, &new, WriteOptions::default()).expect("an empty place")
}

struct Counted<'w> {
    writer: &'w RunWriter,
    allocations: AtomicUsize,
    sweeps: AtomicUsize,
}

impl Recorder for Counted<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        let before = CALLS.load(Ordering::Relaxed);
        let flow = self.writer.after_sweep(report, chain);
        self.allocations.fetch_add(CALLS.load(Ordering::Relaxed) - before, Ordering::Relaxed);
        // The plan ends with a hand-over, which is not what is counted here.
        if self.sweeps.fetch_add(1, Ordering::Relaxed) >= 480 {
            ControlFlow::Break(())
        } else {
            flow
        }
    }
}

#[test]
fn recording_between_checkpoints_takes_no_memory() {
    let _alone = ALONE.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let posterior = posterior(vec!["a".into(), "b".into()]);
    let plan = Plan::new(1, 10, 490);
    let writer = create(&folder.path().join("run"), &posterior, &plan);
    let (allocations, sweeps) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counted = Counted { writer: &writer, allocations, sweeps };
    run(&posterior, &plan, Seed(1), &[None], NonZero::<usize>::MIN, &counted).unwrap();
    assert_eq!(counted.allocations.into_inner(), 0);
}

/// Most memory taken by reading everything, and whether that went well.
fn read(path: &Path) -> (usize, bool) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let read = Run::open(path).and_then(|run| {
        run.draws()?;
        run.verify()
    });
    (PEAK.load(Ordering::Relaxed) - before, read.is_ok())
}

/// Bytes of all files below `path`.
fn size(path: &Path) -> usize {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_file() => found.len() as usize,
        _ => size(&entry.path()),
    });
    sizes.sum()
}

#[test]
fn no_checkpoint_makes_a_reader_take_more_than_it_promises() {
    let _alone = ALONE.lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    // The densest content: labels of no characters, which take three times their bytes.
    let posterior = posterior(vec![String::new(); 300_000]);
    let plan = Plan::new(2, 10, 3);
    let writer = create(&path, &posterior, &plan);
    let none = vec![None; 2];
    run(&posterior, &plan, Seed(1), &none, NonZero::<usize>::MIN, &writer).unwrap();
    writer.finish().unwrap();
    let (peak, fine) = read(&path);
    let promised = |size| size * 8 + (16 << 20);
    assert!(fine && peak <= promised(size(&path)), "{peak} bytes");

    let original = fs::read(path.join("checkpoint")).unwrap();
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let mut refused = 0;
    for _ in 0..40 {
        let mut bytes = original[..original.len() - 4].to_vec();
        for _ in 0..1 + stream.index(3) {
            // The records stand at both ends, the labels between them.
            let near = stream.index(400);
            let at = if stream.index(2) == 0 { near } else { bytes.len() - 8 - near };
            let value = 1u64 << stream.index(64);
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        fs::write(path.join("checkpoint"), &bytes).unwrap();
        let (peak, fine) = read(&path);
        refused += usize::from(!fine);
        assert!(peak <= promised(size(&path)), "{peak} bytes");
    }
    assert!(refused > 25, "{refused}");
}
