//! Paragraphs and items of a rendered template.

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    /// A paragraph, joined to one line.
    Paragraph(String),
    /// A list item, joined to one line.
    Item(String),
}

impl Block {
    /// Its text in one line.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Paragraph(text) => text.clone(),
            Self::Item(text) => format!("- {text}"),
        }
    }
}

/// Splits a rendered template into blocks. An empty line ends a paragraph, and `- ` starts an item.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        if let Some(item) = line.strip_prefix("- ") {
            blocks.push(Block::Item(item.trim().to_owned()));
            is_open = true;
        } else if line.is_empty() {
            is_open = false;
        } else if let (true, Some(Block::Paragraph(last) | Block::Item(last))) =
            (is_open, blocks.last_mut())
        {
            last.push(' ');
            last.push_str(line);
        } else {
            blocks.push(Block::Paragraph(line.to_owned()));
            is_open = true;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_paragraphs_and_items() {
        let read = blocks("One\n  two.\n\nThree.\n- a\n  b\n- c\n\n");
        let paragraph = |text: &str| Block::Paragraph(text.to_owned());
        let item = |text: &str| Block::Item(text.to_owned());
        assert_eq!(read, [paragraph("One two."), paragraph("Three."), item("a b"), item("c")]);
    }
}
