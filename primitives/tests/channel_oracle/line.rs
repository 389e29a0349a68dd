//! The oracle of the places: how many are taken, who waits for some, and who was granted them.

/// One who waits.
#[derive(Clone, Copy)]
struct Waiting {
    who: u64,
    need: usize,
    is_granted: bool,
}

pub(crate) struct Line {
    capacity: usize,
    taken: usize,
    pub(crate) is_closed: bool,
    /// In the order of coming.
    waiting: Vec<Waiting>,
    /// Who was granted something since the last look.
    granted: Vec<u64>,
}

/// What who asks for places is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    Closed,
    No,
}

impl Line {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            taken: 0,
            is_closed: false,
            waiting: Vec::new(),
            granted: Vec::new(),
        }
    }

    /// Takes places if nobody waits.
    pub(crate) fn try_take(&mut self, need: usize) -> Answer {
        if self.is_closed {
            return Answer::Closed;
        }
        if !self.waiting.is_empty() || self.taken + need > self.capacity {
            return Answer::No;
        }
        self.taken += need;
        Answer::Taken
    }

    /// What a poll of `who` finds, which waits from its first one on.
    pub(crate) fn poll(&mut self, who: u64, need: usize) -> Answer {
        let is_here = |waiting: &Waiting| waiting.who == who;
        if !self.waiting.iter().any(is_here) {
            match self.try_take(need) {
                Answer::No => {}
                answer => return answer,
            }
            self.waiting.push(Waiting {
                who,
                need,
                is_granted: false,
            });
            self.grant();
            // It is not asleep yet.
            self.granted.retain(|granted| *granted != who);
        }
        let own = self.waiting.iter().find(|waiting| is_here(waiting));
        if !own.expect("it is there").is_granted {
            return Answer::No;
        }
        let answer = if self.is_closed {
            Answer::Closed
        } else {
            self.taken += need;
            assert!(
                self.taken <= self.capacity,
                "more was granted than there is"
            );
            Answer::Taken
        };
        self.leave(who);
        answer
    }

    /// `who` waits no more.
    pub(crate) fn leave(&mut self, who: u64) {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.who != who);
        if self.waiting.len() < before {
            self.granted.retain(|granted| *granted != who);
            self.grant();
        }
    }

    pub(crate) fn give(&mut self, places: usize) {
        self.taken -= places;
        self.grant();
    }

    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        self.grant();
    }

    /// Who was granted something since the last call.
    pub(crate) fn take_granted(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.granted)
    }

    fn grant(&mut self) {
        let out: usize = self
            .waiting
            .iter()
            .filter(|waiting| waiting.is_granted)
            .map(|waiting| waiting.need)
            .sum();
        let free = match self.is_closed {
            true => usize::MAX,
            false => self.capacity - self.taken,
        };
        let mut left = free.saturating_sub(out);
        for waiting in &mut self.waiting {
            if waiting.is_granted {
                continue;
            }
            if waiting.need > left {
                break;
            }
            left -= waiting.need;
            waiting.is_granted = true;
            self.granted.push(waiting.who);
        }
    }
}
