//! The contract of the lane.

mod cancel;
mod ends;
mod flow;
mod idle;

use corelane_primitives::{Consumer, Producer, lane};

use crate::hosts::Host;

on_every_host!(
    flow::every_value_arrives_once_in_order,
    flow::no_wake_is_lost_on_a_small_lane,
    flow::a_full_lane_makes_the_sender_wait,
    flow::batches_cross_whole,
    flow::ends_that_forget_to_notify_do_not_sleep_together,
    flow::a_busy_end_wakes_one_that_waits,
    flow::ends_cross_a_lane_with_what_is_inside,
    ends::a_dropped_receiver_hands_the_value_back,
    ends::a_dropped_receiver_wakes_a_sender_that_waits,
    ends::a_dropped_sender_ends_the_receiver_after_the_rest,
    ends::a_dropped_sender_wakes_a_receiver_that_waits,
    cancel::cancelled_sends_and_receives_lose_nothing,
    cancel::cancelled_waits_for_room_take_none,
    cancel::who_gives_up_for_good_leaves_the_other_unharmed,
    idle::an_idle_lane_causes_no_polls,
    idle::a_full_lane_causes_no_polls,
    idle::a_wait_for_much_room_ends_once,
);

/// Which place sends.
#[derive(Debug, Clone, Copy)]
enum Way {
    LeftToRight,
    RightToLeft,
}

const WAYS: [Way; 2] = [Way::LeftToRight, Way::RightToLeft];

/// Runs both ends of a new lane, each at its place, and gives what they end in.
fn across<H, S, SF, R, RF>(
    host: &H,
    way: Way,
    capacity: usize,
    sender: S,
    receiver: R,
) -> (SF::Output, RF::Output)
where
    H: Host,
    S: FnOnce(Producer<u64>) -> SF + Send + 'static,
    SF: Future + 'static,
    SF::Output: Send + 'static,
    R: FnOnce(Consumer<u64>) -> RF + Send + 'static,
    RF: Future + 'static,
    RF::Output: Send + 'static,
{
    let (producer, consumer) = lane(capacity);
    let sender = move || sender(producer);
    let receiver = move || receiver(consumer);
    match way {
        Way::LeftToRight => host.pair(sender, receiver),
        Way::RightToLeft => {
            let (received, sent) = host.pair(receiver, sender);
            (sent, received)
        }
    }
}

/// Sends the numbers from zero.
async fn send_all(mut producer: Producer<u64>, count: u64) {
    for value in 0..count {
        producer.send(value).await.unwrap();
    }
}

/// Receives the numbers from zero, each in its turn, until the sender is gone; tells how many.
async fn receive_all(mut consumer: Consumer<u64>) -> u64 {
    let mut count = 0;
    while let Some(value) = consumer.recv().await {
        assert_eq!(value, count);
        count += 1;
    }
    count
}
