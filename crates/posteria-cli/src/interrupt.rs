//! Turn Ctrl-C and SIGTERM into a flag that chains look at.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether a signal asked the program to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on SIGINT and SIGTERM set the flag. A second one ends the program at once:
    /// run folders survive that too.
    ///
    /// Whoever listens later has the same flag, so that a signal at the end of one piece of work
    /// stops the next.
    ///
    /// # Errors
    /// If the operating system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        static LISTENING: OnceLock<Interrupt> = OnceLock::new();
        if let Some(interrupt) = LISTENING.get() {
            return Ok(interrupt.clone());
        }
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            // Handlers run in the order of registration: the first signal finds the flag
            // unset and sets it, the second finds it set.
            flag::register_conditional_shutdown(signal, 128 + signal, interrupt.flag())?;
            flag::register(signal, interrupt.flag())?;
            let number = usize::try_from(signal).unwrap_or(usize::MAX);
            flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
        }
        Ok(LISTENING.get_or_init(|| interrupt).clone())
    }

    /// The flag: set when a signal asked to stop.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The signal that asked to stop, if one did.
    pub fn signal(&self) -> Option<u8> {
        u8::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|&signal| signal > 0)
    }
}
