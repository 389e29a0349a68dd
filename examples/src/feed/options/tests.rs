use super::*;

fn read(args: &str) -> Result<Options, Unstarted> {
    Options::from_args(["market-feed"].into_iter().chain(args.split_whitespace()))
}

const HASH: &str = "C16F563D045838D7C4FB8F299EEF71B29FADD299D1CC008065F55DB839AA4885";

#[test]
fn every_option_is_read() {
    let replay = format!(
        "--replay a.gz b.gz --serve 127.0.0.1:0 --seconds 1.5 --speed 100x --shards 4 \
         --driver uring --idle spin --strict --json out.json --expect-sha256 A={HASH} \
         --expect-sha256 B={HASH}"
    );
    let options = read(&replay).unwrap();
    assert_eq!(options.replay, ["a.gz", "b.gz"].map(PathBuf::from));
    assert_eq!(options.serve, Some("127.0.0.1:0".parse().unwrap()));
    assert_eq!(
        (options.duration(), options.speed()),
        (Some(Duration::from_millis(1_500)), Speed::Times(100.0))
    );
    assert_eq!((options.shards, options.strict), (Some(4), true));
    assert_eq!((options.driver, options.idle), (Driver::Uring, Idle::Spin));
    assert_eq!(options.json, Some("out.json".into()));
    assert_eq!(options.expect_sha256.len(), 2);
    assert_eq!(options.expect_sha256[1].sha256, HASH.to_lowercase());
    assert_eq!(read("--seed 7").unwrap().seed, 7);
    let control = read("--limit ES=1:2 --limit NQ=3:4 --control 127.0.0.1:1").unwrap();
    assert_eq!(
        control.limit,
        ["ES=1:2", "NQ=3:4"].map(|text| text.parse().unwrap())
    );
    assert_eq!(control.control, Some("127.0.0.1:1".parse().unwrap()));
    let trades = read("--trades-overflow drop-new --trades-capacity 9").unwrap();
    assert_eq!(
        (trades.trades_overflow, trades.trades_capacity),
        (Overflow::DropNew, 9)
    );
    let sweep = read("--sweep --sweep-updates 10 --json o").unwrap();
    assert_eq!(
        (sweep.sweep, sweep.sweep_updates, sweep.sweep_rounds),
        (true, 10, 9)
    );
    assert_eq!(
        read("--listen [::1]:9").unwrap().listen,
        Some("[::1]:9".parse().unwrap())
    );
    assert_eq!(
        read("--idle spin-then-park").unwrap().idle,
        Idle::SpinThenPark
    );
}

#[test]
fn without_options_the_embedded_feed_runs_at_full_speed() {
    let options = read("").unwrap();
    assert!(options.replay.is_empty() && options.listen.is_none() && options.serve.is_none());
    assert_eq!(
        (options.driver, options.idle),
        (Driver::Auto, Idle::SpinThenPark)
    );
    assert_eq!(
        (options.speed(), options.seed, options.shards),
        (Speed::Max, 1, None)
    );
    assert_eq!(options.duration(), Some(Duration::from_secs(10)));
}

#[test]
fn only_the_embedded_feed_slows_down_for_subscribers_and_ends_by_itself() {
    let served = "--serve 127.0.0.1:0";
    for (args, speed, duration) in [
        (served.to_owned(), Speed::Times(1.0), Some(10)),
        (format!("{served} --speed max"), Speed::Max, Some(10)),
        (format!("{served} --replay a"), Speed::Max, None),
        (format!("{served} --listen 127.0.0.1:0"), Speed::Max, None),
        (
            format!("{served} --replay a --seconds 3"),
            Speed::Max,
            Some(3),
        ),
    ] {
        let options = read(&args).unwrap();
        assert_eq!(options.speed(), speed, "{args}");
        assert_eq!(
            options.duration(),
            duration.map(Duration::from_secs),
            "{args}"
        );
    }
}

#[test]
fn a_bad_command_line_is_one_line_that_names_the_part() {
    for (args, named) in [
        ("--bogus", "--bogus"),
        ("stray", "stray"),
        ("--shards 0", "--shards"),
        ("--shards 1025", "1 to 1024"),
        ("--shards two", "two"),
        ("--seconds 0", "--seconds"),
        ("--seconds NaN", "NaN"),
        ("--seconds 1e300", "--seconds"),
        ("--replay a --speed 0x", "--speed"),
        ("--speed 2x --listen 127.0.0.1:1", "--listen"),
        (
            "--trades-overflow lose",
            "backpressure, drop-new, drop-oldest",
        ),
        ("--trades-capacity 0", "1 to 1048576"),
        ("--limit ES=1", "SYMBOL=ORDER:POSITION"),
        ("--control here", "--control"),
        ("--driver kqueue", "auto, uring, epoll"),
        ("--idle nap", "park, spin-then-park, spin"),
        ("--listen here", "--listen"),
        ("--serve 127.0.0.1", "--serve"),
        ("--replay", "--replay"),
        ("--replay a --listen 127.0.0.1:1", "--listen"),
        ("--replay a --seed 1", "--seed"),
        ("--expect-sha256 A", "SYMBOL=HEX"),
        ("--expect-sha256 A=12", "64 hexadecimal digits"),
        ("--expect-sha256 =12", "a symbol has no name"),
        ("--json", "--json"),
        ("--sweep --replay a", "--replay"),
        ("--sweep --seconds 1", "--seconds"),
        ("--sweep-rounds 3", "--sweep"),
        ("--sweep --sweep-updates 0", "above zero"),
    ] {
        let refused = read(args).expect_err(args);
        assert_eq!(refused.status, 2, "{args}");
        let Unstarted { text, .. } = refused;
        assert!(
            text.contains(named) && !text.contains('\n'),
            "{args}: {text}"
        );
    }
}

#[test]
fn help_is_no_error() {
    for args in ["--help", "--version"] {
        let shown = read(args).unwrap_err();
        assert_eq!(shown.status, 0);
        assert!(shown.text.contains("market-feed"), "{}", shown.text);
    }
}
