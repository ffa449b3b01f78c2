//! A strict JSON reader for one line, that keeps what other readers lose: the digits of numbers, keys
//! that stand twice, how deep it goes, and whether strings held bytes that are no UTF-8.
//! It shares no code with any client.

/// A JSON object, its own members kept, everything deeper only checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Members in order, doubles kept.
    pub members: Vec<(String, Value)>,
    /// Levels of nesting inside the members (0: scalars only).
    pub depth: usize,
    /// A number somewhere is beyond 64 bits or beyond a double.
    pub huge_number: bool,
    /// A string somewhere holds invalid UTF-8 or a lone surrogate escape.
    pub damaged_text: bool,
}

/// A member's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Text, unescaped; damaged parts replaced by U+FFFD.
    Text(String),
    /// A number as it stands.
    Number(String),
    /// true or false.
    Bool(bool),
    /// null.
    Null,
    /// An array or object.
    Nested,
}

impl Object {
    /// The value of a key; of doubles the last one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.members
            .iter()
            .rev()
            .find_map(|(name, value)| (name == key).then_some(value))
    }

    /// Whether a key stands twice.
    #[must_use]
    pub fn has_doubles(&self) -> bool {
        self.members.iter().enumerate().any(|(at, (name, _))| {
            self.members[..at]
                .iter()
                .any(|(earlier, _)| earlier == name)
        })
    }

    /// The same object as a reader sees it that keeps the first of two equal keys.
    #[must_use]
    pub fn first_wins(&self) -> Self {
        let mut members: Vec<(String, Value)> = Vec::new();
        for (name, value) in &self.members {
            if !members.iter().any(|(earlier, _)| earlier == name) {
                members.push((name.clone(), value.clone()));
            }
        }
        Self {
            members,
            ..self.clone()
        }
    }
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// One JSON object and white space.
    Object(Object),
    /// Anything else.
    Invalid,
}

/// Reads a line without its LF.
#[must_use]
pub fn read(line: &[u8]) -> Line {
    let mut reader = Reader {
        bytes: line,
        at: 0,
        object: Object::default(),
    };
    match reader.top() {
        Some(()) => Line::Object(reader.object),
        None => Line::Invalid,
    }
}

/// Whether a byte is JSON white space.
#[must_use]
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    object: Object,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    /// The whole line: one object, nothing but white space around it.
    fn top(&mut self) -> Option<()> {
        self.spaces();
        self.take(b'{')?;
        self.spaces();
        if self.take(b'}').is_none() {
            loop {
                self.spaces();
                let key = self.string()?;
                self.spaces();
                self.take(b':')?;
                self.spaces();
                let value = self.value()?;
                self.object.members.push((key, value));
                self.spaces();
                if self.take(b',').is_none() {
                    self.take(b'}')?;
                    break;
                }
            }
        }
        self.spaces();
        (self.at == self.bytes.len()).then_some(())
    }

    fn value(&mut self) -> Option<Value> {
        match self.peek()? {
            b'{' | b'[' => self.nested().map(|()| Value::Nested),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::Text),
            b't' => self.word(b"true").map(|()| Value::Bool(true)),
            b'f' => self.word(b"false").map(|()| Value::Bool(false)),
            b'n' => self.word(b"null").map(|()| Value::Null),
            _ => self.number().map(Value::Number),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes[self.at..]
            .starts_with(word)
            .then(|| self.at += word.len())
    }

    /// An array or object of any depth, checked without recursion.
    fn nested(&mut self) -> Option<()> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            // A value begins here.
            match self.peek()? {
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    open.push(bracket);
                    self.object.depth = self.object.depth.max(open.len());
                    self.spaces();
                    let close = if bracket == b'{' { b'}' } else { b']' };
                    if self.take(close).is_some() {
                        open.pop();
                    } else {
                        if bracket == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                _ => {
                    self.scalar()?;
                }
            }
            // A value has ended here.
            loop {
                let Some(bracket) = open.last().copied() else {
                    return Some(());
                };
                self.spaces();
                if self.take(b',').is_some() {
                    self.spaces();
                    if bracket == b'{' {
                        self.key()?;
                    }
                    break;
                }
                self.take(if bracket == b'{' { b'}' } else { b']' })?;
                open.pop();
            }
        }
    }

    /// A key with its colon, up to its value.
    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.spaces();
        self.take(b':')?;
        self.spaces();
        Some(())
    }

    fn number(&mut self) -> Option<String> {
        let start = self.at;
        let _ = self.take(b'-');
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        let mut whole = true;
        if self.take(b'.').is_some() {
            whole = false;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // Only ASCII was taken.
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        let beyond = if whole {
            text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
        } else {
            text.parse::<f64>().map_or(true, f64::is_infinite)
        };
        self.object.huge_number |= beyond;
        Some(text)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut text: Vec<u8> = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
            text.extend_from_slice(&rest[..plain]);
            self.at += plain + 1;
            match rest[plain] {
                b'"' => break,
                b'\\' => self.escape(&mut text)?,
                _ => return None,
            }
        }
        match String::from_utf8(text) {
            Ok(text) => Some(text),
            Err(damaged) => {
                self.object.damaged_text = true;
                Some(String::from_utf8_lossy(damaged.as_bytes()).into_owned())
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let byte = self.peek()?;
        self.at += 1;
        let plain = match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode(text),
            _ => return None,
        };
        text.push(plain);
        Some(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let mut point = u32::from(self.hex()?);
        if (0xd800..0xdc00).contains(&point) && self.bytes[self.at..].starts_with(b"\\u") {
            let back = self.at;
            self.at += 2;
            let low = u32::from(self.hex()?);
            if (0xdc00..0xe000).contains(&low) {
                point = 0x1_0000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = back;
            }
        }
        let character = char::from_u32(point).unwrap_or_else(|| {
            self.object.damaged_text = true;
            char::REPLACEMENT_CHARACTER
        });
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Some(())
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests;
