use std::sync::Mutex;
use std::time::Duration;

/// Sends a call once more while it is not answered: to the next server. The first
/// answer counts, and the other attempts are cancelled. All of them count as
/// attempts of [`Retry`](crate::Retry). Streams are not hedged, nor what changes the
/// server's models. An overload is not made worse by it: ten calls may be hedged at
/// once, then one for two that were answered in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hedging {
    /// The pause before the next attempt.
    pub after: Duration,
    /// The most attempts at the same time.
    pub max_running: usize,
}

impl Hedging {
    /// With two attempts at the same time.
    pub fn after(after: Duration) -> Self {
        Self { after, max_running: 2 }
    }
}

const MOST: f64 = 10.0;

/// Of calls that may be hedged.
pub(crate) struct Budget(Mutex<f64>);

impl Budget {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(MOST))
    }

    /// Whether a call may be hedged.
    pub(crate) fn take(&self) -> bool {
        let mut left = self.0.lock().unwrap();
        let enough = *left >= 1.0;
        if enough {
            *left -= 1.0;
        }
        enough
    }

    /// A call was answered in time.
    pub(crate) fn answered(&self) {
        let mut left = self.0.lock().unwrap();
        *left = MOST.min(*left + 0.5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget() {
        let budget = Budget::new();
        for call in 0..10 {
            assert!(budget.take(), "call {call}");
        }
        budget.answered();
        assert!(!budget.take());
        budget.answered();
        assert!(budget.take());
        assert!(!budget.take());
    }
}
