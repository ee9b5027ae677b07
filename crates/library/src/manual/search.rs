//! The search for words: BM25 over the texts of each item, with more weight for names and for what people ask.

use super::words::{is_context, is_measure, stem, synonyms, tokens, word_lists, words_of};
use crate::catalog::Catalog;
use nsq_value::error::Result;
use nsq_value::table::{ResultTable, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The texts of an item, and how much a word in each of them counts.
const WEIGHTS: [f64; 4] = [5.0, 4.0, 2.0, 0.4];
/// How much the length of a text lowers the weight of its words.
const LENGTH: [f64; 4] = [0.4, 0.0, 0.4, 0.7];
/// How often a word in each of them counts: a list of many questions has the same word many times.
const MOST: [f64; 4] = [f64::MAX, 1.0, f64::MAX, f64::MAX];
/// From here on, more of the same word adds little.
const SATURATION: f64 = 1.6;
/// A synonym counts less than the word itself, and so does the beginning of a longer word.
const SYNONYM: f64 = 0.55;
const BEGINNING: f64 = 0.5;
/// What counts in addition to the words: how much a question that people ask is like the one that was typed.
const LIKENESS: f64 = 1.5;
/// A word that is part of the word in a question, or means the same, counts less than the word itself.
const LIKE_BEGINNING: f64 = 0.85;
const LIKE_SYNONYM: f64 = 0.55;
/// A word that only the columns or the purpose of an item have does not make the item an answer.
const ABOUT: f64 = 0.25;
/// A word such as `training` says where a question comes from, and little about its subject.
const CONTEXT: f64 = 0.3;
/// A word such as `huge` says how much there is of the subject.
const MEASURE: f64 = 0.5;
/// No word that was typed counts less than this: the subject is often a common word, such as `memory`.
const LEAST: f64 = 2.0;
/// No word is rarer than this: a chance word in a question must not outweigh its subject.
const RAREST: f64 = 4.0;
/// Items with less than this part of the best score are left out.
const CUT: f64 = 0.2;
/// And so are items that are about less than this part of what the best item is about: those with its common words only.
const CUT_SHARE: f64 = 0.4;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Whether the best item is about most of what was asked.
    pub is_answer: bool,
    /// Positions of the words that the best item does not have.
    pub unknown: Vec<usize>,
}

/// A text as stems, with the number of each.
type Counts = BTreeMap<String, f64>;

/// An item: a row of a list, its texts, and the questions that it answers.
struct Item {
    row: Vec<Value>,
    texts: [Counts; 4],
    lengths: [f64; 4],
    questions: Vec<Question>,
}

/// Items that are searched for words.
pub struct Search {
    items: Vec<Item>,
    index: Index,
    synonyms: BTreeMap<String, Vec<Vec<String>>>,
}

impl Search {
    /// Reads the texts of the items of a list, which has the columns of [`super::queries`].
    pub fn new(list: Vec<Vec<Value>>, catalog: &Catalog) -> Result<Self> {
        let asked = word_lists("asked.yml", include_str!("asked.yml"))?;
        let mut seen = Stems::default();
        let items: Vec<Item> =
            list.into_iter().map(|row| Item::new(row, catalog, &asked, &mut seen)).collect();
        Ok(Self { index: Index::new(&items), items, synonyms: synonyms()? })
    }

    /// The rows that are about the words, the best first.
    pub fn find(&self, words: &[String]) -> (Vec<Vec<Value>>, Found) {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let terms: Vec<Term> =
            (0..stems.len()).map(|at| Term::new(&stems, at, &self.synonyms, &self.index)).collect();
        let rated = self.items.iter().map(|item| (item.rating(&terms, &self.index), item));
        let mut scored: Vec<(Rating, &Item)> = rated.filter(|(rating, _)| rating.score > 0.0).collect();
        // Equal rows keep their order.
        scored.sort_by(|a, b| b.0.score.total_cmp(&a.0.score));
        let (best, share) =
            scored.first().map_or((0.0, 0.0), |(rating, _)| (rating.score, rating.share));
        scored.retain(|(rating, _)| rating.score >= CUT * best && rating.share >= CUT_SHARE * share);
        let first = scored.first().map(|(rating, _)| rating);
        let found = Found {
            is_answer: first.is_some_and(|rating| rating.share >= 0.5),
            unknown: first.map_or_else(|| (0..words.len()).collect(), |rating| rating.unknown.clone()),
        };
        (scored.into_iter().map(|(_, item)| item.row.clone()).collect(), found)
    }
}

/// Keeps the rows that are about the words, the best first.
pub fn search(table: &mut ResultTable, words: &[String], catalog: &Catalog) -> Result<Found> {
    let (rows, found) = Search::new(std::mem::take(&mut table.rows), catalog)?.find(words);
    table.rows = rows;
    Ok(found)
}

/// How much an item is about a question.
struct Rating {
    score: f64,
    /// The share of the question that the item is about, by the rarity of its words.
    share: f64,
    /// Positions of the words that the item does not have.
    unknown: Vec<usize>,
}

impl Item {
    fn new(
        row: Vec<Value>,
        catalog: &Catalog,
        asked: &BTreeMap<String, Vec<String>>,
        stems: &mut Stems,
    ) -> Self {
        let name = text(&row, 1).to_owned();
        let kind = text(&row, 0);
        let questions = asked.get(&name).cloned().unwrap_or_default();
        let (title, body) = documented(&name, kind, catalog);
        let summary = format!("{} {title}", text(&row, 2));
        let tags = if kind == "relations" { "" } else { text(&row, 4) };
        let words = format!("{} {kind} {tags}", questions.join(" "));
        // Names and titles are questions, too, and so are other words for what nsys can record.
        let others = if kind == "recorded" { tags.split(", ").collect() } else { vec![title.as_str()] };
        let phrases = questions.iter().map(String::as_str).chain(others).chain([name.as_str()]);
        let questions = phrases.filter(|phrase| !phrase.is_empty()).map(Question::new).collect();
        let texts = [name.clone(), words, summary, body].map(|text| counts(&text, stems));
        let lengths = texts.each_ref().map(|text| text.values().sum());
        Self { questions, row, texts, lengths }
    }

    /// How much the item is about what was typed.
    fn rating(&self, terms: &[Term], index: &Index) -> Rating {
        let scores: Vec<f64> = terms.iter().map(|term| term.score(self, index)).collect();
        let sum = |of: &dyn Fn(&Term) -> f64, has: &dyn Fn(&Term, f64) -> bool| -> f64 {
            let had = terms.iter().zip(&scores).filter(|(term, score)| has(term, **score));
            had.map(|(term, _)| of(term)).sum()
        };
        let part = |some: f64, all: f64| some / all.max(f64::MIN_POSITIVE);
        // No item has the words that nothing is known of: they decide whether there is an answer, not which one.
        let known = sum(&|term| term.weight, &|term, _| term.is_known);
        let had = sum(&|term| term.weight, &|_, score| score > 0.0);
        let of_terms: f64 = scores.iter().zip(terms).map(|(score, term)| score * term.weight).sum();
        let likeness = self.questions.iter().map(|question| question.likeness(terms, index));
        let likeness = likeness.fold(0.0, f64::max);
        let all = sum(&|term| term.rarity, &|_, _| true);
        let about = sum(&|term| term.rarity, &|_, score| score > ABOUT);
        let like = likeness * sum(&|term| term.rarity, &|term, _| term.is_known);
        let is_unknown = |at: &usize| scores[*at] == 0.0 && (!terms[*at].is_context || terms.len() == 1);
        Rating {
            score: (of_terms * part(had, known) + LIKENESS * known * likeness) * self.weight(),
            share: part(about.max(like), all),
            unknown: (0..terms.len()).filter(is_unknown).collect(),
        }
    }

    /// How much items of this kind count: what is asked for comes before what it is made of.
    fn weight(&self) -> f64 {
        match text(&self.row, 0) {
            "relations" | "classes" => 0.8,
            "functions" => 0.5,
            "book" => 0.85,
            "findings" => 0.95,
            _ => 1.0,
        }
    }

    /// How much the item is about a stem: 0 to 1. Longer words that begin with the stem count, too.
    fn about(&self, stem: &str, index: &Index) -> f64 {
        let mut weighed = 0.0;
        for place in 0..WEIGHTS.len() {
            let text = &self.texts[place];
            let own = text.get(stem).copied().unwrap_or(0.0);
            let longer = text.range(stem.to_owned()..).skip_while(|(word, _)| *word == stem);
            let longer: f64 = match stem.chars().count() {
                0..3 => 0.0,
                _ => longer.take_while(|(word, _)| word.starts_with(stem)).map(|(_, count)| count).sum(),
            };
            let count = (own + BEGINNING * longer).min(MOST[place]);
            let length = 1.0 + LENGTH[place] * (self.lengths[place] / index.lengths[place] - 1.0);
            weighed += WEIGHTS[place] * count / length.max(0.1);
        }
        weighed / (SATURATION + weighed)
    }
}

/// A question that people ask: the stems of its words in order, without filler words.
struct Question {
    stems: Vec<String>,
}

impl Question {
    fn new(asked: &str) -> Self {
        let words = words_of(&[asked.to_owned()]);
        Self { stems: words.iter().map(|word| stem(word)).collect() }
    }

    /// How much the question is like the one that was typed, 0 to 1: the share of the typed words that it has, times the
    /// share of its own words that were typed. Rare words count more.
    fn likeness(&self, terms: &[Term], index: &Index) -> f64 {
        let mut typed = vec![0.0_f64; self.stems.len()];
        let (mut had, mut all) = (0.0, 0.0);
        for term in terms.iter().filter(|term| term.is_known) {
            all += term.weight;
            had += term.weight * term.mark(&self.stems, &mut typed);
        }
        if had == 0.0 {
            return 0.0;
        }
        let weights: Vec<f64> = self.stems.iter().map(|stem| index.rarity(stem)).collect();
        let own: f64 = weights.iter().zip(&typed).map(|(weight, typed)| weight * typed).sum();
        (had / all) * (own / weights.iter().sum::<f64>())
    }
}

/// Lists that programs add to those of the library. They do not decide how rare a word is: an answer is the same with
/// and without them.
const ADDED: [&str; 3] = ["verbs", "book", "functions"];

/// What is known of all items.
struct Index {
    items: f64,
    /// The number of items with each stem.
    having: BTreeMap<String, f64>,
    /// The stems of all items, also of those that programs add.
    all: BTreeSet<String>,
    /// The mean length of each text.
    lengths: [f64; 4],
}

impl Index {
    fn new(items: &[Item]) -> Self {
        let mut having = BTreeMap::new();
        let mut lengths = [0.0; 4];
        let is_added = |item: &Item| ADDED.contains(&text(&item.row, 0));
        let mut counted: Vec<&Item> = items.iter().filter(|item| !is_added(item)).collect();
        if counted.is_empty() {
            counted = items.iter().collect();
        }
        for item in &counted {
            let mut stems: Vec<&String> = item.texts.iter().flat_map(BTreeMap::keys).collect();
            stems.sort();
            stems.dedup();
            stems.into_iter().for_each(|stem| *having.entry(stem.clone()).or_insert(0.0) += 1.0);
            lengths.iter_mut().zip(item.lengths).for_each(|(sum, length)| *sum += length);
        }
        let count = (counted.len() as f64).max(1.0);
        let all =
            items.iter().flat_map(|item| item.texts.iter().flat_map(BTreeMap::keys)).cloned().collect();
        Self { items: count, having, all, lengths: lengths.map(|sum| (sum / count).max(1.0)) }
    }

    /// Whether any item has the word, or one that begins with it.
    fn has(&self, stem: &str) -> bool {
        self.all.range(stem.to_owned()..).next().is_some_and(|word| word.starts_with(stem))
    }

    /// How much a word says: the rarer, the more.
    fn rarity(&self, stem: &str) -> f64 {
        let longer = self.having.range(stem.to_owned()..).take_while(|(word, _)| word.starts_with(stem));
        let having = longer.map(|(_, count)| *count).fold(0.0, f64::max);
        (1.0 + (self.items - having + 0.5) / (having + 0.5)).ln().min(RAREST)
    }
}

/// A word that was typed: its stem, and other words that mean the same.
struct Term {
    own: Vec<String>,
    others: Vec<Vec<String>>,
    /// How much the word counts for the order of the items.
    weight: f64,
    /// How much it says: less if many items have it.
    rarity: f64,
    /// Whether any item has the word, or another one for it.
    is_known: bool,
    /// Whether the word says little about the subject of the question.
    is_context: bool,
}

impl Term {
    /// The word at this place. Two words that are one elsewhere count as that: `data loader`.
    fn new(
        stems: &[String],
        at: usize,
        synonyms: &BTreeMap<String, Vec<Vec<String>>>,
        index: &Index,
    ) -> Self {
        let pairs = [at.checked_sub(1), Some(at)].into_iter().flatten();
        let joined =
            pairs.filter_map(|first| Some(format!("{}{}", stems[first], stems.get(first + 1)?)));
        let own: Vec<String> = std::iter::once(stems[at].clone())
            .chain(joined.filter(|word| index.having.contains_key(word)))
            .collect();
        let others = synonyms.get(&stems[at]).cloned().unwrap_or_default();
        let is_known = !others.is_empty() || own.iter().any(|word| index.has(word));
        let is_context = is_context(&stems[at]);
        let part = match stems[at].as_str() {
            _ if is_context => CONTEXT,
            stem if is_measure(stem) => MEASURE,
            _ => 1.0,
        };
        let rarity = index.rarity(&stems[at]);
        Self {
            weight: part * rarity.max(LEAST),
            rarity: part * rarity,
            own,
            others,
            is_known,
            is_context,
        }
    }

    /// Marks the words of a question that this one stands for, and says how well it does: 0 to 1.
    fn mark(&self, question: &[String], typed: &mut [f64]) -> f64 {
        let mut best = 0.0_f64;
        for (at, stem) in question.iter().enumerate() {
            let joined = question.get(at + 1).map(|next| format!("{stem}{next}"));
            for own in &self.own {
                let how = how_like(own, stem);
                typed[at] = typed[at].max(how);
                best = best.max(how);
                if joined.as_ref() == Some(own) {
                    typed[at..at + 2].fill(1.0);
                    best = 1.0;
                }
            }
        }
        if best > 0.0 {
            return best;
        }
        for words in &self.others {
            let places: Option<Vec<usize>> =
                words.iter().map(|word| question.iter().position(|stem| stem == word)).collect();
            for at in places.iter().flatten() {
                typed[*at] = typed[*at].max(LIKE_SYNONYM);
                best = LIKE_SYNONYM;
            }
        }
        best
    }

    fn score(&self, item: &Item, index: &Index) -> f64 {
        let own = self.own.iter().map(|stem| item.about(stem, index)).fold(0.0, f64::max);
        let all =
            |words: &Vec<String>| words.iter().map(|stem| item.about(stem, index)).fold(1.0, f64::min);
        let other = self.others.iter().map(all).fold(0.0, f64::max);
        own.max(SYNONYM * other)
    }
}

/// How much two stems are the same word: one may begin with the other.
fn how_like(one: &str, other: &str) -> f64 {
    let is_long = one.len().min(other.len()) >= 4;
    match () {
        () if one == other => 1.0,
        () if is_long && (one.starts_with(other) || other.starts_with(one)) => LIKE_BEGINNING,
        () => 0.0,
    }
}

/// The title of a query, relation or page, and the rest of its documentation.
fn documented(name: &str, kind: &str, catalog: &Catalog) -> (String, String) {
    if kind == "relations" {
        let Some(Ok(relation)) = catalog.relation(name) else { return Default::default() };
        let columns = relation.header.columns.iter();
        let columns: Vec<String> =
            columns.map(|column| format!("{} {}", column.name, column.doc)).collect();
        return (String::new(), columns.join(" "));
    }
    // Only a query has more: an unknown name is compared with all others, which takes long.
    let others = ["pages", "verbs", "book", "recorded", "classes", "functions", "playbooks"];
    let query = (!others.contains(&kind)).then(|| catalog.query(name));
    let Some(Ok(query)) = query else { return Default::default() };
    let header = &query.header;
    let columns = header.columns.iter().map(|column| format!("{} {}", column.name, column.doc));
    let body = std::iter::once(header.why.clone()).chain(columns).collect::<Vec<_>>().join(" ");
    (header.title.clone(), body)
}

/// The stems of words that were seen: the same words come thousands of times.
type Stems = HashMap<String, String>;

fn counts(text: &str, stems: &mut Stems) -> Counts {
    let mut counts = Counts::new();
    let joined = text.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| is_compound(word));
    let joined = joined.map(|word| word.replace('-', "").to_lowercase());
    for word in tokens(text).into_iter().chain(joined) {
        let stem = stems.entry(word).or_insert_with_key(|word| stem(word));
        match counts.get_mut(stem) {
            Some(count) => *count += 1.0,
            None => {
                counts.insert(stem.clone(), 1.0);
            }
        }
    }
    counts
}

/// Whether a word is one of two with a hyphen between them, such as `start-up`, which people also write as one.
fn is_compound(word: &str) -> bool {
    word.split_once('-')
        .is_some_and(|(one, other)| !one.is_empty() && !other.is_empty() && !other.contains('-'))
}

fn text(row: &[Value], index: usize) -> &str {
    match row.get(index) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}
