//! JSON values of a trace that may have another type than expected: such a value counts as missing.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A text; empty if the value is not a text.
pub(super) type Text<'t> = Lenient<Cow<'t, str>>;
/// An integer; `None` if the value is not an integer.
pub(super) type Int = Lenient<Option<i64>>;
/// A process or thread id; `None` if there is none.
pub(super) type Id<'t> = Lenient<Option<IdValue<'t>>>;

/// A process or thread id: most are numbers, some are words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IdValue<'t> {
    Number(i64),
    Word(Cow<'t, str>),
}

/// A value that must have one type. A value of another type becomes the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lenient<T>(pub(super) T);

/// Conversion from a JSON value; unsupported types become the default.
pub(super) trait FromJson<'t>: Default {
    fn of_int(_: i64) -> Self {
        Self::default()
    }
    fn of_text(_: Cow<'t, str>) -> Self {
        Self::default()
    }
    fn of_real(_: f64) -> Self {
        Self::default()
    }
}

impl<'t> FromJson<'t> for Cow<'t, str> {
    fn of_text(text: Cow<'t, str>) -> Self {
        text
    }
}

impl<'t> FromJson<'t> for Option<i64> {
    fn of_int(int: i64) -> Self {
        Some(int)
    }
    fn of_text(text: Cow<'t, str>) -> Self {
        text.parse().ok()
    }
}

impl<'t> FromJson<'t> for Option<IdValue<'t>> {
    fn of_int(int: i64) -> Self {
        Some(IdValue::Number(int))
    }
    fn of_text(text: Cow<'t, str>) -> Self {
        Some(text.parse().map_or(IdValue::Word(text), IdValue::Number))
    }
    fn of_real(real: f64) -> Self {
        Some(IdValue::Word(real.to_string().into()))
    }
}

impl<'de, T: FromJson<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData)).map(Self)
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: FromJson<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, value: i64) -> Result<T, E> {
        Ok(T::of_int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T, E> {
        // A stream or handle above i64::MAX keeps its bits, as unsigned numbers do in SQLite exports.
        Ok(T::of_int(value.cast_signed()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T, E> {
        let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
        Ok(if is_whole { T::of_int(value as i64) } else { T::of_real(value) })
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<T, E> {
        Ok(T::of_text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<T, E> {
        Ok(T::of_text(Cow::Owned(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

/// Visitor methods that turn values of the wrong type into `$default`.
macro_rules! ignore_other_types {
    ($default:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($default)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($default)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($default)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($default)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($default)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($default)
        }
    };
}
pub(super) use ignore_other_types;

/// Three numbers, such as a grid. Missing numbers are `None`.
#[derive(Default)]
pub(super) struct Triple([Int; 3]);

impl Triple {
    pub(super) fn numbers(self) -> [Int; 3] {
        self.0
    }
}

impl<'de> Deserialize<'de> for Triple {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TripleVisitor;
        impl<'de> Visitor<'de> for TripleVisitor {
            type Value = Triple;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of three numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Triple, A::Error> {
                let mut triple = [Int::default(); 3];
                let mut place = 0;
                while let Some(int) = seq.next_element::<Int>()? {
                    if let Some(slot) = triple.get_mut(place) {
                        *slot = int;
                    }
                    place += 1;
                }
                Ok(Triple(triple))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Triple, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Triple::default())
            }

            ignore_other_types!(Triple::default());
        }
        deserializer.deserialize_any(TripleVisitor)
    }
}
