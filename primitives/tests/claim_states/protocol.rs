//! The protocol of `src/claim` as a state machine: two producers, one consumer.

/// Positions have four bits, so that they wrap within a test.
const POSITIONS: u8 = 16;

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    pub(crate) capacity: u8,
    start: u8,
    /// How many things each producer does.
    acts: [u8; 2],
}

/// How many claims are stepped over that their producers still hold: a push that is stepped over
/// claims again, which might go on for ever.
const LATE_MAX: u8 = 2;

impl Setup {
    pub(crate) const fn new(capacity: u8, start: u8, acts: [u8; 2]) -> Self {
        Self {
            capacity,
            start,
            acts,
        }
    }
}

/// Ways in which the protocol could be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    None,
    /// A claimer begins to write without asking whether it was stepped over.
    BeginWithoutExchange,
    /// A claimer that looks first, and then begins, in two steps.
    LookThenBegin,
    /// Words do not say for which lap a slot is free.
    NoLap,
    /// The step-over takes slots that are being written.
    SkipWriting,
    /// The consumer hands a slot back before it has taken the value.
    FreeBeforeTake,
    /// A value is announced before it is whole.
    PublishBeforeWrite,
    /// A claim moves the tail whether or not there is room.
    ClaimByAdding,
    /// A dropped claim leaves its place as it is, and nobody steps over.
    NobodySteps,
    /// Who was stepped over tells its caller that the value is in.
    LateSaysOk,
}

impl Fault {
    pub(crate) const BROKEN: [Self; 9] = [
        Self::BeginWithoutExchange,
        Self::LookThenBegin,
        Self::NoLap,
        Self::SkipWriting,
        Self::FreeBeforeTake,
        Self::PublishBeforeWrite,
        Self::ClaimByAdding,
        Self::NobodySteps,
        Self::LateSaysOk,
    ];
}

/// What a search has met at least once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met {
    pub(crate) full: bool,
    pub(crate) late: bool,
    pub(crate) tombstone: bool,
    pub(crate) stepped_over: bool,
    pub(crate) stepped_over_by_a_producer: bool,
    pub(crate) reclaimed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    Free,
    Writing,
    Published,
    Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Memory {
    Empty,
    HalfWritten,
    Value { producer: u8, act: u8 },
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Slot {
    position: u8,
    word: Word,
    memory: Memory,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Push,
    Claim,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Doing {
    Nothing,
    /// It wants a place, and reads the tail next.
    ReadTail(Kind),
    LookAtSlot(Kind, u8),
    MoveTail(Kind, u8),
    /// Full behind a claim that is old.
    StepOver(u8),
    Claimed(Kind, u8),
    /// Only with a fault: it has looked, and begins next.
    Looked(Kind, u8),
    Write(u8),
    FinishWriting(u8),
    Publish(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Taking {
    Look,
    Take,
    Free,
}

/// Everything that is shared, and where everybody is.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    setup: Setup,
    fault: Fault,
    tail: u8,
    head: u8,
    slots: Vec<Slot>,
    doing: [Doing; 2],
    acts_left: [u8; 2],
    taking: Taking,
    /// What was accepted and not yet delivered, and what was delivered last, of each producer.
    accepted: Vec<(u8, u8)>,
    delivered: [Option<u8>; 2],
    /// Places that will never have a value, counted by who gave them up or stepped over them.
    skips: u8,
    skips_passed: u8,
    late_left: u8,
}

type Next = Result<Vec<State>, &'static str>;

fn after(position: u8, by: u8) -> u8 {
    (position + by) % POSITIONS
}

fn distance(from: u8, to: u8) -> u8 {
    (to + POSITIONS - from) % POSITIONS
}

impl State {
    pub(crate) fn new(setup: Setup, fault: Fault) -> Self {
        let mut slots = vec![
            Slot {
                position: 0,
                word: Word::Free,
                memory: Memory::Empty,
            };
            usize::from(setup.capacity)
        ];
        for by in 0..setup.capacity {
            let position = after(setup.start, by);
            slots[usize::from(position % setup.capacity)].position = position;
        }
        Self {
            setup,
            fault,
            tail: setup.start,
            head: setup.start,
            slots,
            doing: [Doing::Nothing; 2],
            acts_left: setup.acts,
            taking: Taking::Look,
            accepted: Vec::new(),
            delivered: [None; 2],
            skips: 0,
            skips_passed: 0,
            late_left: LATE_MAX,
        }
    }

    fn slot(&mut self, position: u8) -> &mut Slot {
        &mut self.slots[usize::from(position % self.setup.capacity)]
    }

    fn word(&self, position: u8) -> (u8, Word) {
        let slot = &self.slots[usize::from(position % self.setup.capacity)];
        (slot.position, slot.word)
    }

    fn is_free_for(&self, position: u8) -> bool {
        let (at, word) = self.word(position);
        word == Word::Free && (at == position || self.fault == Fault::NoLap)
    }

    /// All states that one step leads to.
    pub(crate) fn next(&self, met: &mut Met) -> Next {
        if distance(self.head, self.tail) > self.setup.capacity {
            return Err("more inside than there are slots");
        }
        let mut next = self.consume(met)?;
        for producer in 0..2 {
            next.extend(self.produce(producer, met)?);
        }
        Ok(next)
    }

    /// With everybody done, everything is accounted for.
    pub(crate) fn check_end(&self) -> Result<(), &'static str> {
        let idle = self.doing.iter().all(|doing| *doing == Doing::Nothing);
        if !idle || self.acts_left != [0, 0] {
            return Err("a producer is stuck");
        }
        if self.head != self.tail || self.taking != Taking::Look {
            return Err("the consumer is stuck");
        }
        if !self.accepted.is_empty() {
            return Err("an accepted value was not delivered");
        }
        if self.skips != self.skips_passed {
            return Err("what was skipped was counted wrong");
        }
        Ok(())
    }

    fn consume(&self, met: &mut Met) -> Next {
        let mut state = self.clone();
        let head = self.head;
        let early = self.fault == Fault::FreeBeforeTake;
        match self.taking {
            Taking::Look => match self.word(head) {
                (at, _) if at != head && self.fault != Fault::NoLap => {
                    return Err("the consumer met another lap");
                }
                (_, Word::Published) => {
                    state.taking = if early { Taking::Free } else { Taking::Take };
                }
                (_, Word::Skipped) => {
                    state.skips_passed += 1;
                    state.taking = Taking::Free;
                }
                (_, Word::Writing) if self.fault == Fault::SkipWriting => {
                    state.step_over(head, met);
                }
                (_, Word::Writing) => return Ok(vec![]),
                (_, Word::Free) if head == self.tail => return Ok(vec![]),
                (_, Word::Free) if self.fault == Fault::NobodySteps => return Ok(vec![]),
                // It is old whenever it likes: what comes later is explored from here as well.
                (_, Word::Free) if !state.may_step_over(head) => return Ok(vec![]),
                (_, Word::Free) => state.step_over(head, met),
            },
            Taking::Take => {
                state.take()?;
                state.taking = if early { Taking::Look } else { Taking::Free };
                state.head = after(head, u8::from(early));
            }
            Taking::Free => {
                let holds_value = self.word(head).1 == Word::Published;
                let capacity = self.setup.capacity;
                let slot = state.slot(head);
                slot.position = after(head, capacity);
                slot.word = Word::Free;
                if early && holds_value {
                    state.taking = Taking::Take;
                } else {
                    state.taking = Taking::Look;
                    state.head = after(head, 1);
                }
            }
        }
        Ok(vec![state])
    }

    fn take(&mut self) -> Result<(), &'static str> {
        let head = self.head;
        let memory = std::mem::replace(&mut self.slot(head).memory, Memory::Empty);
        let Memory::Value { producer, act } = memory else {
            return Err("a value was taken that is not there");
        };
        let Some(index) = self.accepted.iter().position(|own| *own == (producer, act)) else {
            return Err("a value was delivered that was not accepted");
        };
        self.accepted.remove(index);
        // Acts count down.
        let last = &mut self.delivered[usize::from(producer)];
        if last.is_some_and(|last| last <= act) {
            return Err("a producer's values came out of order");
        }
        *last = Some(act);
        Ok(())
    }

    /// Whether a claim counts as old: any that its producer has left, and some others.
    fn may_step_over(&mut self, position: u8) -> bool {
        let holds = |doing: &Doing| match doing {
            Doing::Claimed(_, place) | Doing::Looked(_, place) => *place == position,
            _ => false,
        };
        if !self.doing.iter().any(holds) {
            return true;
        }
        let may = self.late_left > 0;
        self.late_left -= u8::from(may);
        may
    }

    fn step_over(&mut self, position: u8, met: &mut Met) {
        let slot = self.slot(position);
        slot.word = Word::Skipped;
        self.skips += 1;
        met.stepped_over = true;
    }

    fn produce(&self, producer: u8, met: &mut Met) -> Next {
        let me = usize::from(producer);
        let with = |doing| {
            let mut state = self.clone();
            state.doing[me] = doing;
            state
        };
        Ok(match self.doing[me] {
            Doing::Nothing if self.acts_left[me] == 0 => vec![],
            Doing::Nothing => vec![
                with(Doing::ReadTail(Kind::Push)),
                with(Doing::ReadTail(Kind::Claim)),
            ],
            Doing::ReadTail(kind) => vec![with(Doing::LookAtSlot(kind, self.tail))],
            Doing::LookAtSlot(kind, tail) => self.look_at_slot(me, kind, tail, met),
            Doing::MoveTail(kind, tail) if tail == self.tail => {
                let mut state = with(Doing::Claimed(kind, tail));
                state.tail = after(tail, 1);
                vec![state]
            }
            Doing::MoveTail(kind, _) => vec![with(Doing::ReadTail(kind))],
            Doing::StepOver(position) => {
                let mut state = self.clone();
                if self.word(position) == (position, Word::Free) && state.may_step_over(position) {
                    state.step_over(position, met);
                    met.stepped_over_by_a_producer = true;
                }
                vec![state.done(me)]
            }
            Doing::Claimed(kind, place) => self.end_claim(me, kind, place, met),
            Doing::Looked(_, place) => {
                let mut state = with(Doing::Write(place));
                state.slot(place).word = Word::Writing;
                vec![state]
            }
            Doing::Write(place) => {
                let mut state = with(Doing::FinishWriting(place));
                let memory = &mut state.slot(place).memory;
                if *memory != Memory::Empty {
                    return Err("a slot was written that was not empty");
                }
                *memory = Memory::HalfWritten;
                vec![state]
            }
            Doing::FinishWriting(place) => {
                let mut state = with(Doing::Publish(place));
                state.slot(place).memory = Memory::Value {
                    producer,
                    act: self.acts_left[me],
                };
                vec![if self.fault == Fault::PublishBeforeWrite {
                    state.done(me)
                } else {
                    state
                }]
            }
            Doing::Publish(place) => vec![self.publish(me, place)],
        })
    }

    fn publish(&self, me: usize, place: u8) -> Self {
        let mut state = self.clone();
        let slot = state.slot(place);
        slot.position = place;
        slot.word = Word::Published;
        state.accepted.push((me as u8, self.acts_left[me]));
        if self.fault == Fault::PublishBeforeWrite {
            state.doing[me] = Doing::Write(place);
            return state;
        }
        state.done(me)
    }

    /// What a producer does that takes `tail` for the next place.
    fn look_at_slot(&self, me: usize, kind: Kind, tail: u8, met: &mut Met) -> Vec<Self> {
        let with = |doing| {
            let mut state = self.clone();
            state.doing[me] = doing;
            state
        };
        if self.is_free_for(tail) || self.fault == Fault::ClaimByAdding {
            return vec![with(Doing::MoveTail(kind, tail))];
        }
        let (at, word) = self.word(tail);
        let oldest = after(tail, POSITIONS - self.setup.capacity);
        if at != oldest && self.fault != Fault::NoLap {
            // Somebody else has claimed it.
            return vec![with(Doing::ReadTail(kind))];
        }
        met.full = true;
        let mut next = vec![self.clone().done(me)];
        if word == Word::Free && self.fault != Fault::NobodySteps {
            next.push(with(Doing::StepOver(oldest)));
        }
        next
    }

    /// What a producer does with its claim.
    fn end_claim(&self, me: usize, kind: Kind, place: u8, met: &mut Met) -> Vec<Self> {
        let mut begun = self.clone();
        let fault = self.fault;
        if fault == Fault::BeginWithoutExchange || self.is_free_for(place) {
            begun.doing[me] = match fault {
                Fault::LookThenBegin => Doing::Looked(kind, place),
                Fault::PublishBeforeWrite => Doing::Publish(place),
                _ => Doing::Write(place),
            };
            if fault != Fault::LookThenBegin {
                begun.slot(place).word = Word::Writing;
            }
        } else if fault == Fault::LateSaysOk {
            begun.accepted.push((me as u8, self.acts_left[me]));
            begun = begun.done(me);
        } else if kind == Kind::Push {
            met.reclaimed = true;
            begun.doing[me] = Doing::ReadTail(kind);
        } else {
            met.late = true;
            begun = begun.done(me);
        }
        if kind == Kind::Push {
            return vec![begun];
        }
        let mut dropped = self.clone();
        if self.is_free_for(place) {
            met.tombstone = true;
            dropped.slot(place).word = Word::Skipped;
            dropped.skips += 1;
        }
        // The last one is forgotten.
        vec![begun, dropped.done(me), self.clone().done(me)]
    }

    fn done(mut self, me: usize) -> Self {
        self.doing[me] = Doing::Nothing;
        self.acts_left[me] -= 1;
        self
    }
}
