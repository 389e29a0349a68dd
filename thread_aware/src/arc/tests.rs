//! Where things lie in memory.

use core::mem::offset_of;

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
    // What every arrival writes lies on another line than what it reads.
    assert_eq!(offset_of!(Node<u64>, counts) % 64, 0);
    assert_eq!(offset_of!(Node<str>, counts) % 64, 0);
}

// proves: TA-16
#[test]
fn lineage_keeps_its_counts_off_what_is_read() {
    let padded = align_of::<CachePadded<u8>>();
    assert_eq!(align_of::<Lineage<u64>>(), padded);
    let (shared, own, own_bytes) = Lineage::<u64>::layout();
    assert!(shared.abs_diff(own) >= padded);
    assert!(own_bytes <= 2 * padded && Lineage::<str>::layout().2 <= 2 * padded);
}
