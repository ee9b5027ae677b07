//! Reasons in sentences. A reason is told once, with all parts that it applies to.

use super::part::{PartAnswer, Piece};

/// Says why a piece of a part has no answer. `None`: a piece before it in the part says the same.
pub(super) fn not_answered(
    answers: &[PartAnswer<'_>],
    nth: usize,
    place: usize,
    reason: &str,
) -> Option<String> {
    let answer = &answers[nth];
    let above = &answer.pieces[..place];
    if above.iter().any(|other| other.lack() == Some(reason)) {
        return None;
    }
    let alike = answer.pieces.iter().filter(|piece| piece.lack() == Some(reason));
    let about = alike.map(|piece| piece.about).collect::<Vec<_>>().join("; ");
    let before = answers[..nth].iter().map(|other| (format!("in {}", other.label()), &*other.pieces));
    for (told, pieces) in before.chain([("above".to_owned(), above)]) {
        let lacks = pieces.iter().filter_map(Piece::lack);
        if let Some(more) = lacks.filter_map(|known| beyond(known, reason)).min_by_key(|more| more.len())
        {
            let more = if more.is_empty() { String::new() } else { format!(" {}", sentence(more)) };
            return Some(format!("Not answered, as {told}: {about}.{more}"));
        }
    }
    let shares = |piece: &Piece<'_>| piece.lack().is_some_and(|lack| beyond(reason, lack).is_some());
    let later = answers[nth + 1..].iter().filter(|other| other.pieces.iter().any(shares));
    let here = match later.map(PartAnswer::label).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        later => format!(", here and in {}", later.join(", ")),
    };
    Some(format!("Not answered{here}: {about}. {}", sentence(reason)))
}

/// What a reason says after one that is known, if it begins with that one.
fn beyond<'r>(known: &str, reason: &'r str) -> Option<&'r str> {
    match reason.strip_prefix(known)? {
        "" => Some(""),
        more => more.strip_prefix("; "),
    }
}

/// Turns a reason into a sentence.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !text.starts_with('`') => {
            ended(&format!("{}{}", first.to_uppercase(), chars.as_str()))
        }
        _ => ended(text),
    }
}

/// Adds a full stop, unless the text ends in something to copy, such as a command.
pub(super) fn ended(text: &str) -> String {
    match text.ends_with(['.', '\'', '`', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}
