//! A parser of server-sent events, limited to what providers use: `event:` and `data:` lines,
//! terminated by an empty line.
//!
//! **Invariant:** memory is bounded. A line or an event that exceeds the limit is an error.

use std::io::{self, BufRead, Read};

/// The size limit of an event.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The event type; empty if it has none.
    pub(crate) name: String,
    pub(crate) data: String,
}

/// A reader of the events of a stream.
pub(crate) struct Events<R> {
    reader: R,
}

impl<R: BufRead> Events<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader }
    }

    /// Returns the next event, or `None` at the end of the stream. An incomplete last event is
    /// dropped.
    pub(crate) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        let mut has_data = false;
        loop {
            let mut line = Vec::new();
            let room = MAX_EVENT_BYTES - event.data.len();
            self.reader
                .by_ref()
                .take(room as u64 + 1)
                .read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return if line.len() > room {
                    Err(too_long())
                } else {
                    Ok(None)
                };
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                if has_data {
                    return Ok(Some(event));
                }
                event = Event::default();
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut event.name),
                "data" => {
                    if has_data {
                        event.data.push('\n');
                    }
                    has_data = true;
                    event.data.push_str(value);
                    if event.data.len() >= MAX_EVENT_BYTES {
                        return Err(too_long());
                    }
                }
                // Comments, ids and retry times are ignored.
                _ => {}
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("an event of the stream has more than {MAX_EVENT_BYTES} bytes"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<(String, String)> {
        let mut events = Events::new(text.as_bytes());
        let mut all = Vec::new();
        while let Some(event) = events.next().unwrap() {
            all.push((event.name, event.data));
        }
        all
    }

    #[test]
    fn events_are_separated_by_empty_lines() {
        let text = ": hello\n\nevent: ping\ndata: {}\n\ndata: one\r\ndata:two\r\n\r\nid: 5\n\ndata: [DONE]\n\ndata: cut off";
        let expected = [("ping", "{}"), ("", "one\ntwo"), ("", "[DONE]")];
        assert_eq!(
            events(text),
            expected.map(|(name, data)| (name.to_owned(), data.to_owned()))
        );
    }

    #[test]
    fn endless_line_is_an_error() {
        let endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(
            Events::new(endless).next().unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
        let lines =
            b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(400_000);
        assert_eq!(
            Events::new(lines.as_slice()).next().unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
