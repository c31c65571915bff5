//! Refresh the momentum between trajectories: anew, or partially so that it persists.

use crate::random::Stream;

/// How much of the momentum is kept from one trajectory to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Persistence {
    /// λ in [0, 1): 0 draws the momentum anew.
    pub decay: f64,
    /// Every so many trajectories the momentum is drawn anew all the same; 0: never.
    pub reset_every: usize,
}

impl Persistence {
    /// A fresh momentum for every trajectory.
    pub const NONE: Self = Persistence { decay: 0.0, reset_every: 0 };

    /// r ← λ r + √(1 - λ²) n with n ~ N(0, I) [MCMCstuff §5.2.3], which leaves N(0, I)
    /// invariant. `trajectory` counts the trajectories of the stage; the first is always drawn
    /// anew.
    pub fn refresh(&self, momentum: &mut [f64], trajectory: usize, stream: &mut Stream) {
        let anew = trajectory == 0
            || (self.reset_every > 0 && trajectory.is_multiple_of(self.reset_every));
        if self.decay > 0.0 && !anew {
            let noise = (1.0 - self.decay * self.decay).sqrt();
            for r in momentum {
                *r = self.decay * *r + noise * stream.normal();
            }
        } else {
            stream.fill_normal(momentum);
        }
    }
}
