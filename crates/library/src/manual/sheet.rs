//! A manual page while it is written: the same paragraphs and items as text or as Markdown.

use nsq_render::render::{filled, markdown_code, markdown_text};

/// How a manual page is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Lines of at most 96 characters, for terminals.
    #[default]
    Text,
    /// Markdown, for a site or a book.
    Markdown,
}

/// Width of a page of text, in characters.
const WIDTH: usize = 96;
/// Where the texts of items begin.
const INDENT: usize = 24;

pub(super) struct Sheet {
    form: Form,
    text: String,
}

impl Sheet {
    pub(super) fn new(form: Form) -> Self {
        Self { form, text: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// The first line: what the page is about.
    pub(super) fn title(&mut self, name: &str, title: &str) {
        self.text = match self.form {
            Form::Text => format!("{name} - {title}\n\n"),
            Form::Markdown => format!("# {}\n\n**{}**\n", markdown_text(name), markdown_text(title)),
        };
    }

    /// Begins a section. The hint says how to use its items.
    pub(super) fn heading(&mut self, name: &str, hint: &str) {
        let space = if hint.is_empty() { "" } else { " " };
        match self.form {
            Form::Text => self.text.push_str(&format!("\n{name}{space}{hint}\n")),
            Form::Markdown => {
                let (first, rest) = name.split_at(1);
                let name = format!("{first}{}", rest.to_lowercase());
                self.text.push_str(&format!("\n## {name}{space}{}\n", markdown_text(hint)));
            }
        }
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        match self.form {
            Form::Text => {
                for line in filled(text, WIDTH - 2) {
                    self.text.push_str(&format!("  {line}\n"));
                }
            }
            Form::Markdown => self.text.push_str(&format!("\n{}\n", markdown_text(&one_line(text)))),
        }
    }

    /// A line of names, or of words and names.
    pub(super) fn names<'a>(&mut self, before: &str, names: impl IntoIterator<Item = &'a str>) {
        let form = self.form;
        let spelled = |name: &str| match form {
            Form::Text => name.to_owned(),
            Form::Markdown => markdown_code(name),
        };
        let names: Vec<String> = names.into_iter().map(spelled).collect();
        let line = format!("{before}{}", names.join(", "));
        match self.form {
            Form::Text => self.paragraph(&line),
            Form::Markdown => self.text.push_str(&format!("\n{line}\n")),
        }
    }

    /// The file that defines it, and what it reads.
    pub(super) fn source<'a>(
        &mut self,
        file: &str,
        verb: &str,
        inputs: impl IntoIterator<Item = &'a str>,
    ) {
        let before = match self.form {
            Form::Text => format!("{file}, {verb} "),
            Form::Markdown => format!("{}, {verb} ", markdown_code(file)),
        };
        self.names(&before, inputs);
    }

    pub(super) fn item(&mut self, name: &str, text: &str) {
        if self.form == Form::Markdown {
            // A list begins after an empty line.
            let is_first =
                !self.text.trim_end().rsplit('\n').next().unwrap_or_default().starts_with("- ");
            let gap = if is_first { "\n" } else { "" };
            let (name, text) = (markdown_code(name), markdown_text(&one_line(text)));
            self.text.push_str(&format!("{gap}- {name}: {text}\n"));
            return;
        }
        let mut lines = filled(text, WIDTH - INDENT).into_iter();
        let first = lines.next().unwrap_or_default();
        let line = match name.len() + 4 > INDENT {
            true => format!("  {name}\n{:INDENT$}{first}\n", ""),
            false => format!("  {name:width$}{first}\n", width = INDENT - 2),
        };
        self.text.push_str(&line);
        for line in lines {
            self.text.push_str(&format!("{:INDENT$}{line}\n", ""));
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: Form) -> String {
        let mut sheet = Sheet::new(form);
        sheet.title("a_b@1", "Kernels");
        sheet.paragraph("Kernels of\n  `all_ranks`, <each> once.");
        sheet.heading("COLUMNS", "(-p x=y)");
        sheet.item("dur_ns", "Time. [ns]");
        sheet.item("a_name_that_is_longer_than_the_indent", "Name.");
        sheet.heading("SEE ALSO", "");
        sheet.names("", ["a_c", "a_d"]);
        sheet.finish()
    }

    #[test]
    fn a_page_is_text_or_markdown() {
        assert_eq!(
            written(Form::Text),
            "a_b@1 - Kernels\n\n  Kernels of `all_ranks`, <each> once.\n\nCOLUMNS (-p x=y)\n  dur_ns                Time. [ns]\n  \
             a_name_that_is_longer_than_the_indent\n                        Name.\n\nSEE ALSO\n  a_c, a_d\n"
        );
        assert_eq!(
            written(Form::Markdown),
            "# a\\_b@1\n\n**Kernels**\n\nKernels of `all_ranks`, &lt;each&gt; once.\n\n## Columns (-p x=y)\n\n- `dur_ns`: Time. \\[ns\\]\n\
             - `a_name_that_is_longer_than_the_indent`: Name.\n\n## See also\n\n`a_c`, `a_d`\n"
        );
    }
}
