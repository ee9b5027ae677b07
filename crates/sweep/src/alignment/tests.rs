use super::*;

/// Each letter is a name, and each small one a class, too: those of `aBC` are of one class.
fn ops(text: &str) -> Vec<Op> {
    let mut class = 0;
    let op = |name: char| {
        if name.is_ascii_lowercase() {
            class = u32::from(name);
        }
        Op { name: u32::from(name), class }
    };
    text.chars().map(op).collect()
}

/// The blocks as text, one a pair of both sides.
fn shown(a: &str, b: &str) -> String {
    let (a, b) = (a.replace('.', ""), b.replace('.', ""));
    let (mut at, mut bt) = (0, 0);
    let parts = blocks(&ops(&a), &ops(&b)).into_iter().map(|(m, n)| {
        let part = format!("{}-{}", &a[at..at + m], &b[bt..bt + n]);
        (at, bt) = (at + m, bt + n);
        part
    });
    parts.collect::<Vec<_>>().join(" ")
}

/// The length of a longest common subsequence, by the table of all prefixes.
fn longest(a: &[u8], b: &[u8]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (place, y) in b.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if x == y { diagonal + 1 } else { above.max(row[place]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[test]
fn what_is_common_is_longest() {
    let mut seed = 3u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % n
    };
    for _ in 0..3000 {
        let kinds = 1 + below(5);
        let text = |below: &mut dyn FnMut(u64) -> u64| -> Vec<u8> {
            (0..below(14)).map(|_| below(kinds) as u8).collect()
        };
        let (a, b) = (text(&mut below), text(&mut below));
        let pairs = common(&a, &b);
        assert!(pairs.iter().all(|&(x, y)| a[x] == b[y]), "{a:?} {b:?}");
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{a:?} {b:?}");
        assert_eq!(pairs.len(), longest(&a, &b), "{a:?} {b:?}");
    }
}

#[test]
fn sequences_without_anything_in_common_take_bounded_time() {
    let a: Vec<u32> = (0..40_000).collect();
    let b: Vec<u32> = (40_000..80_000).collect();
    assert!(common(&a, &b).is_empty());
    let late: Vec<u32> = (100_000..103_000).chain(0..40_000).collect();
    assert_eq!(common(&late, &a).len(), 40_000);
    let shuffled: Vec<u32> = (0..40_000u32).map(|x| x.wrapping_mul(7919) % 40_009).collect();
    let pairs = common(&a, &shuffled);
    assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
}

#[test]
fn blocks_tell_what_was_added_removed_and_replaced() {
    assert_eq!(shown("abc", "abc"), "a-a b-b c-c");
    assert_eq!(shown("abc", "ac"), "a-a b- c-c");
    assert_eq!(shown("ac", "abc"), "a-a -b c-c");
    // Two kernels of one class stand for one of the same class, beside others that were replaced.
    assert_eq!(shown("xmABz", "xmCz"), "x-x m-m AB-C z-z");
    assert_eq!(shown("xpqz", "xrsz"), "x-x pq-rs z-z");
    // Runs of one class and of the same length are aligned one by one.
    assert_eq!(shown("", ""), "");
    assert_eq!(shown("", "ab"), "-ab");
}

#[test]
fn names_of_one_sequence_belong_to_those_in_their_place() {
    let name = |text: char| u32::from(text);
    let [a, b] = align(&ops("xmABzmABz"), &ops("xmCzmDz"));
    let groups = |places: &[Place]| places.iter().map(|place| place.group).collect::<Vec<_>>();
    let one = Some(name('A'));
    assert_eq!(groups(&a), [None, None, one, one, None, None, one, one, None]);
    assert_eq!(groups(&b), [None, None, one, None, None, one, None]);
    assert_eq!(a[2].block, b[2].block);
    // What is added stands in nobody's place, and neither does what both have.
    let [a, b] = align(&ops("xz"), &ops("xyzx"));
    assert!(a.iter().chain(&b).all(|place| place.group.is_none()));
    // A name belongs to the one that it mostly stands for.
    let [a, _] = align(&ops("xpzxpzxqz"), &ops("xrzxrzxrz"));
    assert_eq!(groups(&a)[1], Some(name('p')));
    assert_eq!(groups(&a)[7], Some(name('p')));
    // Many names at once say nothing.
    let [a, _] = align(&ops("xabcdez"), &ops("xfghijz"));
    assert!(a.iter().all(|place| place.group.is_none()));
}

#[test]
fn what_is_common_by_chance_aligns_nothing() {
    let long: String = ('a'..='w').filter(|name| *name != 'm').collect();
    assert_eq!(shown(&format!("{long}m{long}"), "XmY"), format!("{long}m{long}-XmY"));
    // Beside a short gap it is none.
    assert_eq!(shown(&format!("am{long}"), "XmY"), format!("a-X m-m {long}-Y"));
}
