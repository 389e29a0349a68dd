//! Errors become one another where a call fails in fewer ways than its caller does.

use corelane_primitives::{
    Closed, Overflow, SendError, SetError, Signal, Subscription, Topic, TopicOverflow,
    TryPublishError, TrySetError, channel,
};
use std::time::Duration;

#[test]
fn what_is_closed_is_so_in_every_error() {
    assert_eq!(SendError::from(Closed(1)), SendError::Closed(1));
    assert_eq!(TryPublishError::from(Closed(1)), TryPublishError::Closed(1));
    assert_eq!(SetError::from(Closed(1)), SetError::Closed(1));
    assert_eq!(
        TrySetError::from(SetError::from(Closed(1))),
        TrySetError::Closed(1)
    );
}

#[test]
fn calls_that_fail_in_one_way_pass_their_error_on() {
    fn sends(sender: &corelane_primitives::Sender<u32>) -> Result<(), SendError<u32>> {
        sender.try_send(1)?;
        Ok(sender.blocking_send(2)?)
    }
    let (sender, mut receiver) = channel(1);
    receiver.close();
    assert_eq!(sends(&sender), Err(SendError::Closed(1)));

    let signal = Signal::new(0);
    signal.close();
    let refused = signal.set(3).expect_err("it is closed");
    assert_eq!(
        refused.to_string(),
        "it is closed, or the other end is gone"
    );
}

#[test]
fn a_refused_value_comes_out_of_every_error() {
    let state = Subscription::new(0, 1, Overflow::Fail);
    let _feed = state.changes();
    assert!(state.try_set(1).is_ok());
    let overrun = state.try_set(2).expect_err("the feed has no room");
    assert!(!overrun.is_closed());
    assert_eq!(overrun.into_inner(), None, "it was set");
    assert_eq!(state.get_cloned(), 2);
    assert_eq!(
        TrySetError::from(SetError::<u32>::Overrun(state.version())),
        overrun
    );
    state.close();
    let closed = state.blocking_set(3, Duration::ZERO);
    let closed = closed.expect_err("it is closed");
    assert!(closed.is_closed());
    assert_eq!(closed.into_inner(), Some(3));
    assert_eq!(SetError::Closed(4).into_inner(), Some(4));

    let topic = Topic::new(1, TopicOverflow::Backpressure);
    let _feed = topic.subscribe();
    assert!(topic.try_publish(5).is_ok());
    let full = topic.try_publish(6).expect_err("the feed has no room");
    assert!(!full.is_closed());
    topic.close();
    let closed = topic.try_publish(7).expect_err("it is closed");
    assert!(closed.is_closed());
    assert_eq!(closed.into_inner(), 7);
}
