//! Sequences, whose elements can be changed in place.

use alloc::{
    collections::{LinkedList, VecDeque},
    vec::Vec,
};

use crate::{ThreadAware, affinity::Affinity};

impl<T: ThreadAware> ThreadAware for [T] {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        for element in self {
            element.relocate(source, destination);
        }
    }
}

impl<T: ThreadAware, const N: usize> ThreadAware for [T; N] {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.as_mut_slice().relocate(source, destination);
    }
}

impl<T: ThreadAware> ThreadAware for Vec<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.as_mut_slice().relocate(source, destination);
    }
}

impl<T: ThreadAware> ThreadAware for VecDeque<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        let (front, back) = self.as_mut_slices();
        front.relocate(source, destination);
        back.relocate(source, destination);
    }
}

impl<T: ThreadAware> ThreadAware for LinkedList<T> {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        for element in self {
            element.relocate(source, destination);
        }
    }
}
