//! One sequence of random steps, on the real thing and on the model.

use std::sync::{
    Arc as StdArc,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use thread_aware::{
    Arc, ThreadAware, Weak,
    affinity::{self, Affinity, pinned_affinities},
    storage::{Storage, Strategy},
};

use crate::model::{Lineage, Place};

/// Steps a sequence.
const STEPS: u64 = 24;
/// No more lineages, handles, weak handles and storages than this at once, each.
const KEPT_MAX: usize = 6;

/// A value that knows its number and is counted while it lives.
struct Value {
    number: u64,
    living: StdArc<AtomicUsize>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.living.fetch_sub(1, Relaxed);
    }
}

/// Splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % bound
    }

    fn pick<T>(&mut self, from: &[T]) -> Option<usize> {
        (!from.is_empty()).then(|| self.below(from.len()))
    }
}

/// A thing under test, and the number of its lineage.
type Of<T> = (usize, T);

struct World<S: Strategy> {
    random: Random,
    places: Vec<Affinity>,
    lineages: Vec<Lineage>,
    handles: Vec<Of<(Place, Arc<Value, S>)>>,
    weaks: Vec<Of<(Place, Weak<Value, S>)>>,
    storages: Vec<Of<StdArc<Storage<Value, S>>>>,
    living: StdArc<AtomicUsize>,
    /// The number of the next value, as the constructors count and as the model does.
    made: StdArc<AtomicU64>,
    next: u64,
}

/// Runs the sequence of `seed`.
pub(crate) fn sequence<S: Strategy>(seed: u64) {
    let topologies = [&[2, 2][..], &[3], &[1]].map(pinned_affinities);
    let mut world = World::<S> {
        random: Random(seed),
        places: topologies
            .concat()
            .into_iter()
            .chain([affinity::current()])
            .collect(),
        lineages: Vec::new(),
        handles: Vec::new(),
        weaks: Vec::new(),
        storages: Vec::new(),
        living: StdArc::default(),
        made: StdArc::default(),
        next: 0,
    };
    for step in 0..STEPS {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            world.step();
            world.check();
        }));
        if let Err(panic) = failed {
            eprintln!("seed {seed}, step {step}");
            std::panic::resume_unwind(panic);
        }
    }
    let World {
        living,
        handles,
        weaks,
        storages,
        ..
    } = world;
    drop((handles, storages));
    assert_eq!(living.load(Relaxed), 0, "seed {seed}");
    assert!(
        weaks.iter().all(|(_, (_, weak))| weak.upgrade().is_none()),
        "seed {seed}"
    );
}

impl<S: Strategy> World<S> {
    fn affinity(&mut self) -> Affinity {
        self.places[self.random.below(self.places.len())]
    }

    fn value(&mut self) -> StdArc<Value> {
        self.living.fetch_add(1, Relaxed);
        let value = Value {
            number: self.next,
            living: self.living.clone(),
        };
        self.next += 1;
        self.made.fetch_add(1, Relaxed);
        StdArc::new(value)
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0 if self.lineages.len() < KEPT_MAX => self.new_lineage(),
            1 if self.lineages.len() < KEPT_MAX => self.new_storage(),
            2..=6 => self.relocate(),
            7 | 8 => self.clone_handle(),
            9 => self.drop_handle(),
            10 => self.weak_step(),
            11 => self.upgrade(),
            12 => self.insert(),
            13 => self.handle_of_storage(),
            14 => self.storage_step(),
            _ => self.relocate(),
        }
    }

    fn new_lineage(&mut self) {
        let (made, living) = (self.made.clone(), self.living.clone());
        let handle = Arc::new_fn(move || {
            living.fetch_add(1, Relaxed);
            Value {
                number: made.fetch_add(1, Relaxed),
                living: living.clone(),
            }
        });
        self.lineages.push(Lineage::with_first(self.next));
        self.next += 1;
        self.handles.push((self.lineages.len() - 1, (None, handle)));
    }

    fn new_storage(&mut self) {
        self.lineages.push(Lineage::of_storage());
        self.storages
            .push((self.lineages.len() - 1, StdArc::default()));
    }

    fn relocate(&mut self) {
        let Some(at) = self.random.pick(&self.handles) else {
            return self.new_lineage();
        };
        let (source, destination) = (self.affinity(), self.affinity());
        let source = (self.random.below(3) > 0).then_some(source);
        let (lineage, (place, handle)) = &mut self.handles[at];
        let lineage = &mut self.lineages[*lineage];
        let ignored = lineage.ignored;
        let target = lineage.relocate::<S>(*place, source, destination, &mut self.next);
        let handles = &mut lineage.handles;
        let moved = handles
            .iter()
            .position(|other| other == place)
            .expect("it is listed");
        handles[moved] = target;
        *place = target;
        if destination.processor_index() % 2 == 0 {
            handle.relocate(source, destination);
        } else {
            let result = Arc::try_relocate(handle, source, destination);
            assert_eq!(result.is_ok(), lineage.ignored == ignored);
        }
        assert_eq!(Arc::ignored(handle).anonymous, lineage.ignored);
    }

    fn clone_handle(&mut self) {
        if let Some(at) = self.random.pick(&self.handles)
            && self.handles.len() < KEPT_MAX
        {
            let (lineage, (place, handle)) = &self.handles[at];
            self.lineages[*lineage].handles.push(*place);
            self.handles.push((*lineage, (*place, handle.clone())));
        }
    }

    fn drop_handle(&mut self) {
        if let Some(at) = self.random.pick(&self.handles) {
            let (lineage, (place, handle)) = self.handles.swap_remove(at);
            let handles = &mut self.lineages[lineage].handles;
            let gone = handles
                .iter()
                .position(|other| *other == place)
                .expect("it is listed");
            handles.swap_remove(gone);
            if self.random.below(4) == 0 {
                let value = handle.into_arc();
                assert_eq!(value.number, self.lineages[lineage].values[&place]);
            }
        }
    }

    fn weak_step(&mut self) {
        match self.random.below(4) {
            0 | 1 if self.weaks.len() < KEPT_MAX => {
                if let Some(at) = self.random.pick(&self.handles) {
                    let (lineage, (place, handle)) = &self.handles[at];
                    self.weaks
                        .push((*lineage, (*place, Arc::downgrade(handle))));
                }
            }
            2 => {
                let destination = self.affinity();
                if let Some(at) = self.random.pick(&self.weaks) {
                    let (lineage, (place, weak)) = &mut self.weaks[at];
                    let lineage = &self.lineages[*lineage];
                    weak.relocate(None, destination);
                    let target = lineage.place::<S>(destination);
                    *place = target
                        .filter(|at| lineage.values.contains_key(at))
                        .unwrap_or(*place);
                }
            }
            _ => {
                if let Some(at) = self.random.pick(&self.weaks) {
                    let (lineage, (place, weak)) = self.weaks.swap_remove(at);
                    self.weaks.push((lineage, (place, weak.clone())));
                }
            }
        }
    }

    fn upgrade(&mut self) {
        if let Some(at) = self.random.pick(&self.weaks) {
            let (lineage, (place, weak)) = &self.weaks[at];
            let upgraded = weak.upgrade();
            assert_eq!(upgraded.is_some(), self.lineages[*lineage].is_alive());
            if let Some(handle) = upgraded {
                self.lineages[*lineage].handles.push(*place);
                self.handles.push((*lineage, (*place, handle)));
            }
        }
    }

    fn insert(&mut self) {
        let Some(at) = self.random.pick(&self.storages) else {
            return;
        };
        let (affinity, value) = (self.affinity(), self.value());
        let (lineage, storage) = &self.storages[at];
        let lineage = &mut self.lineages[*lineage];
        let number = value.number;
        let place = lineage.place::<S>(affinity);
        let free = place.filter(|place| !lineage.values.contains_key(place));
        match storage.insert(affinity, value) {
            Ok(()) => {
                lineage
                    .values
                    .insert(free.expect("only a free place takes a value"), number);
            }
            Err(rejected) => assert_eq!((free, rejected.number), (None, number)),
        }
    }

    fn handle_of_storage(&mut self) {
        let affinity = self.affinity();
        if let Some(at) = self.random.pick(&self.storages)
            && self.handles.len() < KEPT_MAX
        {
            let (number, storage) = &self.storages[at];
            let lineage = &mut self.lineages[*number];
            let place = lineage
                .place::<S>(affinity)
                .filter(|at| lineage.values.contains_key(at));
            let handle = Arc::try_from_storage(storage.clone(), affinity);
            assert_eq!(handle.is_ok(), place.is_some());
            if let (Ok(handle), Some(place)) = (handle, place) {
                lineage.handles.push(place);
                self.handles.push((*number, (place, handle)));
            }
        }
    }

    fn storage_step(&mut self) {
        if self.random.below(2) == 0
            && let Some(at) = self.random.pick(&self.handles)
            && self.storages.len() < KEPT_MAX
        {
            let (lineage, (_, handle)) = &self.handles[at];
            self.lineages[*lineage].storages += 1;
            self.storages.push((*lineage, Arc::storage(handle)));
        } else if let Some(at) = self.random.pick(&self.storages) {
            let (lineage, _) = self.storages.swap_remove(at);
            self.lineages[lineage].storages -= 1;
        }
    }

    /// Compares everything that can be seen.
    fn check(&self) {
        for (lineage, (place, handle)) in &self.handles {
            let lineage = &self.lineages[*lineage];
            assert_eq!(handle.number, lineage.values[place]);
            assert_eq!(Arc::strong_count(handle), lineage.handles_of(*place));
        }
        for (lineage, (place, weak)) in &self.weaks {
            let there = self.lineages[*lineage]
                .handles
                .iter()
                .filter(|at| *at == place);
            assert_eq!(weak.strong_count(), there.count());
        }
        for (lineage, storage) in &self.storages {
            let lineage = &self.lineages[*lineage];
            for &affinity in &self.places {
                let wanted = lineage
                    .place::<S>(affinity)
                    .and_then(|at| lineage.values.get(&at));
                assert_eq!(
                    storage.get(affinity).map(|value| value.number),
                    wanted.copied()
                );
            }
        }
        let kept: usize = self.lineages.iter().map(Lineage::kept).sum();
        assert_eq!(self.living.load(Relaxed), kept);
        assert_eq!(self.made.load(Relaxed), self.next);
    }
}
