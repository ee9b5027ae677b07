//! Classifies GPU operations by name.
//!
//! There are two independent classifications:
//!
//! - `activity` and `collective` use a fixed grammar of names. They decide how GPU time is divided
//!   into compute, communication and memory, so a user's class map does not change them.
//! - A [`ClassMap`] is an ordered list of rules that anyone can write.
//!
//! The `catalog` module reads rules from files.

mod class_map;
mod collective;
mod function_name;
mod simple_name;

pub use class_map::{BrokenRule, ClassMap, Classified, OTHERS, Pattern, Rule};
pub use collective::{Activity, activity, collective};
pub use function_name::FunctionName;
pub use simple_name::simple_name;
