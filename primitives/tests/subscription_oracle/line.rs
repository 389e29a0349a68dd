//! Those who wait for room, as an oracle: each wants one unit, and is served in its turn.

/// What a poll must answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    Waits,
    Closed,
}

struct Place {
    who: u64,
    /// Whether it has the right of way.
    is_granted: bool,
    /// How often it got that.
    grants: usize,
}

/// In the order of coming.
#[derive(Default)]
pub(crate) struct Line(Vec<Place>);

impl Line {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives the right of way to as many as there is room for.
    pub(crate) fn grant(&mut self, free: usize) {
        let granted = self.0.iter().filter(|place| place.is_granted).count();
        let rest = self.0.iter_mut().filter(|place| !place.is_granted);
        for place in rest.take(free.saturating_sub(granted)) {
            place.is_granted = true;
            place.grants += 1;
        }
    }

    /// How often `who` was to be woken.
    pub(crate) fn grants(&self, who: u64) -> usize {
        let place = self.0.iter().find(|place| place.who == who);
        place.map_or(0, |place| place.grants)
    }

    pub(crate) fn leave(&mut self, who: u64) {
        self.0.retain(|place| place.who != who);
    }

    /// A poll of `who`, while there is room for `free`, without end if it is closed.
    pub(crate) fn poll(&mut self, who: u64, free: usize, is_closed: bool) -> Answer {
        let is_on = self.0.iter().any(|place| place.who == who);
        if !is_on && (free == 0 || !self.is_empty()) {
            self.0.push(Place {
                who,
                is_granted: false,
                grants: 0,
            });
            self.grant(free);
        }
        if let Some(place) = self.0.iter_mut().find(|place| place.who == who) {
            // A feed that has come since may have taken the room away.
            place.is_granted &= free > 0;
            if !place.is_granted {
                return Answer::Waits;
            }
        }
        self.leave(who);
        match is_closed {
            true => Answer::Closed,
            false => Answer::Taken,
        }
    }
}
