//! Text → words that can be compared: in lower case, without endings, and with other words for the same thing.

use nsq_value::error::{Error, Result};
use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

/// Words of a question that say nothing about its subject.
const FILLERS: &str = "\
    a about actually also am an and any anything are as at be been being by can could d did do does doing done dont each enough \
    every find for from get gets getting give going happen happened happens has have how i if in into is it its just know \
    let like ll lot m me much my need not of on or our please possible quite re really s see should show so some \
    something spend spending spends spent t take taken takes taking took tell than that the their them then there these they \
    this those to us use used uses using ve very want was way we were what when where which while who whose why will \
    with would you your";

/// Words that say where a question comes from, and little about its subject.
const CONTEXT: &str = "\
    analysis analyze app application code correctly different during file help inference job measure model nsight nsq nsys \
    performance print problem profile profiler profiling program put question report result results run running script system \
    systems train training wrong";

/// Whether a word says where a question comes from: as a stem.
pub(super) fn is_context(stem_of_word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| CONTEXT.split_ascii_whitespace().map(stem).collect());
    STEMS.contains(stem_of_word)
}

/// Words that say how much there is of the subject of a question.
const MEASURES: &str = "\
    amount average bad big count fast faster few good grow grows high huge increase large less level little long longer lot \
    low many maximum mean minimum more most number part per rate short slow slower spike spikes sum too total usage";

/// Whether a word says how much, as a stem.
pub(super) fn is_measure(stem_of_word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| MEASURES.split_ascii_whitespace().map(stem).collect());
    STEMS.contains(stem_of_word)
}

static FILLER_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| FILLERS.split_ascii_whitespace().collect());

/// The words of a question: in lower case, split at spaces and marks. Filler words are left out, unless there are no
/// others.
pub fn words_of(typed: &[String]) -> Vec<String> {
    let mut words = tokens(&typed.join(" "));
    let is_filler = |word: &String| {
        word.bytes().all(|byte| byte.is_ascii_digit()) || FILLER_WORDS.contains(word.as_str())
    };
    if !words.iter().all(is_filler) {
        words.retain(|word| !is_filler(word));
    }
    words
}

/// The words of a text, also those of names such as `cuda_gpu_kern_sum` and `cudaMalloc`.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for piece in text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()) {
        let mut word = String::new();
        let mut was_lower = false;
        for c in piece.chars() {
            if c.is_uppercase() && was_lower {
                words.push(std::mem::take(&mut word));
            }
            was_lower = c.is_lowercase();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
}

/// Endings, the longest first, what stands for them, and how long the rest must be.
const ENDINGS: [(&str, &str, usize); 24] = [
    ("isations", "", 3),
    ("izations", "", 3),
    ("isation", "", 3),
    ("ization", "", 3),
    ("ations", "", 4),
    ("ation", "", 4),
    ("izing", "", 3),
    ("ising", "", 4),
    ("ized", "", 3),
    ("izer", "", 4),
    ("ize", "", 3),
    ("ise", "", 4),
    ("ators", "", 4),
    ("ator", "", 4),
    ("ating", "", 4),
    ("ated", "", 4),
    ("ate", "", 4),
    ("ions", "", 4),
    ("ion", "", 4),
    ("ings", "", 4),
    ("ing", "", 4),
    ("ers", "", 5),
    ("er", "", 5),
    ("ed", "", 4),
];

/// Stems that are written in two ways, and the one that stands for both.
const SAME: [(&str, &str); 22] = [
    ("apis", "api"),
    ("cpus", "cpu"),
    ("gpus", "gpu"),
    ("tpus", "tpu"),
    ("avg", "mean"),
    ("averag", "mean"),
    ("bw", "bandwidth"),
    ("comm", "communic"),
    ("dtod", "d2d"),
    ("dtoh", "d2h"),
    ("exec", "execut"),
    ("freq", "frequency"),
    ("func", "function"),
    ("htod", "h2d"),
    ("kern", "kernel"),
    ("mem", "memory"),
    ("statistic", "stat"),
    ("consum", "util"),
    ("consumpt", "util"),
    ("synchron", "sync"),
    ("timing", "time"),
    ("usag", "util"),
];

/// The stem of a word. Words that are written in two ways have the same one: `kern` and `kernel`.
pub(super) fn stem(word: &str) -> String {
    let stem = without_ending(word);
    match SAME.iter().find(|(one, _)| *one == stem) {
        Some((_, other)) => (*other).to_owned(),
        None => stem,
    }
}

/// A word without its ending: `launched` and `launches` are `launch`, `utilisation` and `utilize` are `util`.
fn without_ending(word: &str) -> String {
    let has_rest = |rest: &str, least: usize| rest.chars().count() >= least;
    for (ending, other, least) in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending).filter(|rest| has_rest(rest, least)) {
            return undoubled(rest) + other;
        }
    }
    let singular = match word {
        _ if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") => word.to_owned(),
        _ => match (word.strip_suffix("ies"), word.strip_suffix("es"), word.strip_suffix('s')) {
            (Some(rest), ..) if has_rest(rest, 2) => format!("{rest}y"),
            (_, Some(rest), _)
                if has_rest(rest, 3)
                    && ["ch", "sh", "ss", "x"].iter().any(|end| rest.ends_with(end)) =>
            {
                rest.to_owned()
            }
            (.., Some(rest)) if has_rest(rest, 3) => return without_ending(rest),
            _ => word.to_owned(),
        },
    };
    match singular.strip_suffix('e').filter(|rest| has_rest(rest, 4)) {
        Some(rest) => rest.to_owned(),
        None => singular,
    }
}

/// `stopp` is `stop`, `stall` stays.
fn undoubled(word: &str) -> String {
    let mut letters = word.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(other)) if last == other && !"lsz".contains(last) => {
            word[..word.len() - last.len_utf8()].to_owned()
        }
        _ => word.strip_suffix('e').unwrap_or(word).to_owned(),
    }
}

/// A list of YAML files of the manual: names and words.
pub(super) fn word_lists(file: &str, text: &str) -> Result<BTreeMap<String, Vec<String>>> {
    serde_yaml::from_str(text)
        .map_err(|e| Error::catalog(file, 1, e.to_string(), "report this: it is a bug in nsq"))
}

/// What people search for, by its stem, and the stems of the words that the library uses for it.
pub(super) fn synonyms() -> Result<BTreeMap<String, Vec<Vec<String>>>> {
    let lists = word_lists("synonyms.yml", include_str!("synonyms.yml"))?;
    let stems = |text: &String| tokens(text).iter().map(|word| stem(word)).collect();
    Ok(lists
        .into_iter()
        .map(|(word, others)| (stem(&word), others.iter().map(stems).collect()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_have_one_stem() {
        for alike in [
            &["launch", "launches", "launched", "launching"][..],
            &["utilization", "utilisation", "utilize", "util"],
            &["copy", "copies"],
            &["allocation", "allocate", "allocated"],
            &["idle", "idles"],
            &["profile", "profiler", "profiling", "profiled"],
            &["kernel", "kernels"],
            &["stop", "stopped", "stops"],
            &["step", "steps"],
            &["communication", "communicate", "comm"],
            &["kern", "kernels"],
            &["synchronize", "synchronization", "syncs"],
        ] {
            let stems: Vec<String> = alike.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{stems:?}");
        }
        for word in ["bus", "process", "gpu", "os", "axis", "mfu"] {
            assert!(stem(word).len() + 1 >= word.len(), "{word}");
        }
        assert_eq!(tokens("cudaMalloc's cuda_gpu_sum"), ["cuda", "malloc", "s", "cuda", "gpu", "sum"]);
        let typed = ["Why is my GPU idle?".to_owned()];
        assert_eq!(words_of(&typed), ["gpu", "idle"]);
        assert_eq!(words_of(&["why".to_owned()]), ["why"]);
    }
}
