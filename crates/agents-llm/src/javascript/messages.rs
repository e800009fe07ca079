//! Messages of the engine on standard input and output: JSON texts, each after its length.

use std::io::{Read as _, Write as _};

use serde_json::Value;

/// Reads a message. If the agent has closed the pipe, the process ends.
pub(super) fn read() -> Value {
    let read = || -> std::io::Result<Value> {
        let mut input = std::io::stdin().lock();
        let mut head = [0; 4];
        input.read_exact(&mut head)?;
        let length = u64::from(u32::from_le_bytes(head));
        let mut message = Vec::new();
        (&mut input).take(length).read_to_end(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    };
    read().unwrap_or_else(|_| std::process::exit(0))
}

/// Writes a message. If the agent has closed the pipe, the process ends.
pub(super) fn write(message: &Value) {
    let text = message.to_string();
    let write = || -> std::io::Result<()> {
        let length = u32::try_from(text.len()).map_err(std::io::Error::other)?;
        let mut output = std::io::stdout().lock();
        output.write_all(&length.to_le_bytes())?;
        output.write_all(text.as_bytes())?;
        output.flush()
    };
    if write().is_err() {
        std::process::exit(0);
    }
}

/// Keeps the beginning and the end of a text, and forgets the rest.
pub(super) struct Output {
    half: usize,
    head: String,
    head_chars: usize,
    tail: String,
    tail_chars: usize,
    total: usize,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            half: (limit / 2).max(1),
            head: String::new(),
            head_chars: 0,
            tail: String::new(),
            tail_chars: 0,
            total: 0,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        let chars = text.chars().count();
        self.total += chars;
        let room = self.half - self.head_chars;
        let cut = text
            .char_indices()
            .nth(room)
            .map_or(text.len(), |(at, _)| at);
        self.head.push_str(&text[..cut]);
        self.head_chars += chars.min(room);
        self.tail.push_str(&text[cut..]);
        self.tail_chars += chars.saturating_sub(room);
        if self.tail_chars > 8 * self.half {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        let surplus = self.tail_chars.saturating_sub(self.half);
        let cut = self.tail.char_indices().nth(surplus);
        let cut = cut.map_or(self.tail.len(), |(at, _)| at);
        self.tail.drain(..cut);
        self.tail_chars -= surplus;
    }

    /// Returns the text, with a note about what is left out, and starts an empty one.
    pub(super) fn take(&mut self) -> String {
        self.shorten();
        let empty = Self::new(2 * self.half);
        let Self {
            head,
            head_chars,
            tail,
            tail_chars,
            total,
            ..
        } = std::mem::replace(self, empty);
        match total - head_chars - tail_chars {
            0 => head + &tail,
            left_out => format!("{head}\n[{left_out} characters are left out]\n{tail}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_both_ends() {
        let mut output = Output::new(8);
        output.push("äbc");
        assert_eq!(output.take(), "äbc");
        output.push("abcdefgh");
        assert_eq!(output.take(), "abcdefgh");
        for _ in 0..1000 {
            output.push("0123456789");
        }
        assert_eq!(output.take(), "0123\n[9992 characters are left out]\n6789");
        assert_eq!(output.take(), "");
    }
}
