//! Where things lie in memory.

use crossbeam_utils::CachePadded;

use super::{
    lineage::Lineage,
    node::{Node, Slot},
};

// proves: TA-16
#[test]
fn slots_share_no_line() {
    let padded = align_of::<CachePadded<u8>>();
    assert_eq!(
        (size_of::<Slot<u64>>(), align_of::<Slot<u64>>()),
        (padded, padded)
    );
    assert_eq!(
        (size_of::<Slot<str>>(), align_of::<Slot<str>>()),
        (padded, padded)
    );
    // One line of 64 bytes is all that a first touch writes of each.
    assert!(size_of::<Node<u64>>() <= 64);
}

// proves: TA-16
#[test]
fn lineage_keeps_its_counts_off_what_is_read() {
    let padded = align_of::<CachePadded<u8>>();
    assert_eq!(align_of::<Lineage<u64>>(), padded);
    let (shared, own, own_bytes) = Lineage::<u64>::layout();
    assert!(shared.abs_diff(own) >= padded);
    assert!(own_bytes <= padded);
    assert!(Lineage::<str>::layout().2 <= padded);
}
