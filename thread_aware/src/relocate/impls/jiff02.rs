//! Feature `jiff02`: the types of jiff 0.2 that are numbers alone. `Zoned` and `TimeZone` hold a
//! shared time zone with a count and are not among them.

use jiff::{
    SignedDuration, Span, SpanFieldwise, Timestamp, Unit,
    civil::{Date, DateTime, ISOWeekDate, Time, Weekday},
    tz::Offset,
};

use super::plain::plain;

plain!(SignedDuration, Span, SpanFieldwise, Timestamp, Unit);
plain!(Date, DateTime, ISOWeekDate, Time, Weekday, Offset);
