//! Items that are told of their move.

use corelane_primitives::{ChannelBuilder, SendError, channel};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use thread_aware::affinity::{Affinity, enter, pinned_affinities};
use thread_aware::{ThreadAware, Unaware};

/// From where a parcel came, and where to.
type Move = (Option<Affinity>, Affinity);

/// Notes each of its moves.
#[derive(Clone, Default)]
struct Parcel(Unaware<Arc<Mutex<Vec<Move>>>>);

impl Parcel {
    fn moves(&self) -> Vec<Move> {
        self.0.lock().expect("no note panics").clone()
    }
}

impl ThreadAware for Parcel {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0
            .lock()
            .expect("no note panics")
            .push((source, destination));
    }
}

#[test]
fn item_is_relocated_once_where_it_is_received() {
    let cores = pinned_affinities(&[3]);
    let built = ChannelBuilder::new(4).relocating().build();
    let (sender, mut receiver) = built.expect("four is a capacity");
    let parcels: [Parcel; 3] = std::array::from_fn(|_| Parcel::default());
    {
        let _here = enter(cores[0], Rc::new(()));
        assert!(sender.try_send(parcels[0].clone()).is_ok());
        let mut permits = sender.try_reserve(1).expect("there is room");
        assert!(permits.send(parcels[1].clone()).is_ok());
    }
    let anonymous = thread_aware::affinity::current();
    assert!(sender.blocking_send(parcels[2].clone()).is_ok());
    assert!(
        parcels.iter().all(|parcel| parcel.moves().is_empty()),
        "not before it arrives"
    );
    let _there = enter(cores[2], Rc::new(()));
    assert!(receiver.try_recv().is_ok());
    assert_eq!(receiver.fold(9, 0, |count, _| count + 1).acc, 2);
    assert_eq!(parcels[0].moves(), [(Some(cores[0]), cores[2])]);
    assert_eq!(parcels[1].moves(), [(Some(cores[0]), cores[2])]);
    assert_eq!(parcels[2].moves(), [(Some(anonymous), cores[2])]);
}

#[test]
fn item_that_is_refused_or_dropped_inside_is_not_relocated() {
    let built = ChannelBuilder::new(1).relocating().build();
    let (sender, mut receiver) = built.expect("one is a capacity");
    let parcel = Parcel::default();
    assert!(sender.try_send(parcel.clone()).is_ok());
    let refused = sender
        .try_send(parcel.clone())
        .map_err(SendError::into_inner);
    assert!(refused.is_err_and(|back| back.moves().is_empty()));
    receiver.close();
    drop(receiver);
    assert!(parcel.moves().is_empty());
}

#[test]
fn items_pass_as_they_are_otherwise() {
    let (sender, mut receiver) = channel(1);
    let parcel = Parcel::default();
    assert!(sender.try_send(parcel.clone()).is_ok());
    assert!(receiver.try_recv().is_ok());
    assert!(parcel.moves().is_empty());
}
