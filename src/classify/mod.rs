//! What a GPU operation is for, told by its name alone.
//!
//! Two answers that do not depend on each other. [`activity`] and [`collective`] follow a grammar:
//! they decide how time is divided, so no user's map moves them. A [`ClassMap`] is ordered rules that
//! anyone may write.
//!
//! Not for: files of rules (the `catalog` reads them) or SQL.

mod class_map;
mod collective;
mod function_name;
mod simple_name;

pub use class_map::{BrokenRule, ClassMap, Classified, OTHERS, Pattern, Rule};
pub use collective::{Activity, activity, collective};
pub use function_name::FunctionName;
pub use simple_name::simple_name;
