//! Sending: order, buffers that outlive their futures, full sockets.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::thread;

use futures_util::future::join;

use super::*;
use crate::driver::uring::send::SendState;
use crate::io::IoBuf;

async fn write_all(stream: &Stream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (n, _) = stream.write(bytes.to_vec()).await;
        bytes = &bytes[n.unwrap()..];
    }
}

/// Fills the socket until a write must wait, and tells how many bytes went.
fn fill(stream: &Stream) -> usize {
    let mut sent = 0;
    let piece = vec![0xAA; 64 * 1024];
    loop {
        match stream.poll_write(&mut Context::from_waker(Waker::noop()), &piece) {
            Poll::Ready(n) => sent += n.unwrap(),
            Poll::Pending => return sent,
        }
    }
}

fn drain(mut peer: StdStream) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut received = Vec::new();
        peer.read_to_end(&mut received).unwrap();
        received
    })
}

// proves: RT-12
#[test]
fn a_write_with_room_is_sent_at_once() {
    on_every_shape(|driver| {
        let (stream, mut peer) = pair(driver);
        let operations = driver.counters().operations.value();
        let written = poll_once(stream.write(b"hello".to_vec()));
        assert!(matches!(written, Poll::Ready((Ok(5), buf)) if buf == b"hello"));
        assert_eq!(driver.counters().operations.value(), operations);
        let mut buf = [0; 5];
        peer.read_exact(&mut buf).unwrap();
        assert_eq!(&buf, b"hello");
    });
}

#[test]
fn a_write_that_must_wait_arrives_whole_and_in_order() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        set_send_buffer(&stream, 4096);
        let sent = pattern(500_000);
        let reader = drain(peer);
        block_on(driver, write_all(&stream, &sent));
        drop(stream);
        driver.turn();
        assert!(reader.join().unwrap() == sent, "bytes were lost or swapped");
    });
}

/// A buffer that tells when it is freed.
struct Told {
    bytes: Vec<u8>,
    _alive: Rc<()>,
}

// SAFETY: As the vector that it holds.
unsafe impl IoBuf for Told {
    fn as_init_ptr(&self) -> *const u8 {
        self.bytes.as_init_ptr()
    }

    fn bytes_init(&self) -> usize {
        self.bytes.bytes_init()
    }
}

// proves: RT-13
#[test]
fn a_dropped_write_keeps_its_buffer_until_the_kernel_is_done() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        fill(&stream);
        let alive = Rc::new(());
        let told = Told {
            bytes: pattern(1000),
            _alive: Rc::clone(&alive),
        };
        assert!(poll_once(stream.write(told)).is_pending());
        assert_eq!(
            Rc::strong_count(&alive),
            2,
            "the future is gone, the buffer is not"
        );
        turn_until(driver, || Rc::strong_count(&alive) == 1);
        // Later writes still go, after the dropped one.
        let reader = drain(peer);
        block_on(driver, write_all(&stream, b"after"));
        drop(stream);
        driver.turn();
        assert!(reader.join().unwrap().ends_with(b"after"));
    });
}

#[test]
fn a_write_dropped_after_its_completion_frees_its_buffer() {
    on(NEWEST, |driver| {
        let (stream, peer) = pair(driver);
        fill(&stream);
        let alive = Rc::new(());
        {
            let told = Told {
                bytes: pattern(1000),
                _alive: Rc::clone(&alive),
            };
            let mut write = pin!(stream.write(told));
            assert!(
                write
                    .as_mut()
                    .poll(&mut Context::from_waker(Waker::noop()))
                    .is_pending()
            );
            let reader = drain(peer);
            turn_until(driver, || {
                matches!(stream.socket.send.get(), SendState::Done(..))
            });
            assert_eq!(Rc::strong_count(&alive), 2);
            drop(reader);
        }
        assert_eq!(Rc::strong_count(&alive), 1);
        assert!(
            poll_once(stream.write(b"x".to_vec())).is_ready(),
            "the socket is idle again"
        );
    });
}

#[test]
fn later_writes_wait_for_the_one_in_flight() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        let filled = fill(&stream);
        let operations = driver.counters().operations.value();
        let both = join(
            stream.write(b"first".to_vec()),
            stream.write(b"second".to_vec()),
        );
        let mut both = Box::pin(both);
        assert!(
            both.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        assert_eq!(
            driver.counters().operations.value() - operations,
            1,
            "one send in flight"
        );
        let reader = drain(peer);
        let ((first, _), (second, _)) = block_on(driver, both);
        assert_eq!((first.unwrap(), second.unwrap()), (5, 6));
        drop(stream);
        driver.turn();
        assert_eq!(&reader.join().unwrap()[filled..], b"firstsecond");
    });
}

#[test]
fn poll_write_is_woken_when_there_is_room() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        let filled = fill(&stream);
        let reader = drain(peer);
        let n = block_on(
            driver,
            std::future::poll_fn(|cx| stream.poll_write(cx, b"more")),
        );
        assert_eq!(n.unwrap(), 4);
        drop(stream);
        driver.turn();
        assert_eq!(reader.join().unwrap().len(), filled + 4);
    });
}

#[test]
fn a_write_of_nothing_needs_no_call() {
    on_every_shape(|driver| {
        let (stream, _peer) = pair(driver);
        assert!(matches!(
            poll_once(stream.write(Vec::new())),
            Poll::Ready((Ok(0), _))
        ));
    });
}

#[test]
fn a_write_to_a_closed_peer_is_an_error_and_no_signal() {
    on_every_shape(|driver| {
        let (stream, _peer) = pair(driver);
        stream.shutdown(Shutdown::Write).unwrap();
        let (result, buf) = block_on(driver, stream.write(b"x".to_vec()));
        assert_eq!(result.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(buf, b"x", "the buffer comes back");
    });
}

#[test]
fn a_write_in_flight_fails_when_the_peer_resets() {
    on_every_shape(|driver| {
        let (stream, peer) = pair(driver);
        fill(&stream);
        let mut write = pin!(stream.write(pattern(100)));
        assert!(
            write
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        driver.turn();
        drop(peer);
        let (result, buf) = block_on(driver, write);
        let kind = result.unwrap_err().kind();
        assert!(
            matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
            "{kind:?}"
        );
        assert_eq!(buf, pattern(100));
    });
}

#[test]
fn connect_tells_a_refusal() {
    on_every_shape(|driver| {
        let (listener, addr) = listener(driver);
        drop(listener);
        driver.turn();
        let error = block_on(driver, Stream::connect(driver, addr)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_dropped_connect_closes_its_socket() {
    on_every_shape(|driver| {
        let (listener, addr) = listener(driver);
        for _ in 0..20 {
            drop(poll_once(Stream::connect(driver, addr)));
        }
        let both = join(listener.accept(), Stream::connect(driver, addr));
        let (accepted, connected) = block_on(driver, both);
        accepted.unwrap();
        connected.unwrap();
    });
}
