//! Those who wait for room, as an oracle: each wants one unit, and is served in the order of coming.

/// What a poll must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    Waits,
    Closed,
}

#[derive(Default)]
pub(crate) struct Line {
    /// Who is on it, in their order, and whether they have the right of way.
    waiting: Vec<(u64, bool)>,
}

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Gives the right of way to as many as there is room for.
    pub(crate) fn grant(&mut self, free: usize) {
        let granted = self.waiting.iter().filter(|(_, granted)| *granted).count();
        let rest = self.waiting.iter_mut().filter(|(_, granted)| !granted);
        rest.take(free.saturating_sub(granted))
            .for_each(|(_, granted)| *granted = true);
    }

    pub(crate) fn is_granted(&self, who: u64) -> bool {
        self.waiting.contains(&(who, true))
    }

    pub(crate) fn leave(&mut self, who: u64) {
        self.waiting.retain(|(other, _)| *other != who);
    }

    /// A poll of `who`, while there is room for `free`, without end if it is closed.
    pub(crate) fn poll(&mut self, who: u64, free: usize, is_closed: bool) -> Answer {
        let is_on = self.waiting.iter().any(|(other, _)| *other == who);
        if !is_on && (free == 0 || !self.is_empty()) {
            self.waiting.push((who, false));
        } else if !is_on {
            return Self::answer(is_closed);
        }
        self.grant(free);
        if !self.is_granted(who) {
            return Answer::Waits;
        }
        self.leave(who);
        Self::answer(is_closed)
    }

    fn answer(is_closed: bool) -> Answer {
        match is_closed {
            true => Answer::Closed,
            false => Answer::Taken,
        }
    }
}
