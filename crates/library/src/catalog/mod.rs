//! The [`Catalog`]: the SQL library, loaded from embedded files and user folders.
//!
//! It finds the files, parses their front matter, and looks them up by name. A file is parsed on first
//! use, so a run pays only for the query it runs.
//!
//! The catalog does not open reports or run queries. It is the same for every report.

mod built_in;
mod class_map;
mod class_parser;
mod classes;
mod column;
mod document;
mod entry;
mod finding;
mod front_matter;
mod header;
mod library;
pub mod lock;
mod page;
mod pages;
mod questions;
mod recipes;
mod relation;
mod rules;
mod skeleton;
mod source;
mod yaml_error;

pub use built_in::{BUILT_IN, BuiltIn, EmbeddedFile};
pub use class_map::{ClassMapSource, ClassRule, Duplicate};
pub use class_parser::parse as parse_classes;
pub use classes::{ClassMaps, DEFAULT_CLASSES};
pub use column::{ColumnSpec, Param, ParamType};
pub use document::Document;
pub use entry::FileKind;
pub use finding::{
    Confidence, FINDING_COLUMNS, FINDING_PARTS, FINDING_TABLES, FINDING_WINDOWS, Finding, KnownBy,
};
pub use front_matter::{NO_FRONT_MATTER, has_front_matter, line_of};
pub use header::{
    ArgSpec, AskedQuery, Deprecated, Kind, NsysColumn, NsysLack, NsysReport, NsysUnit, Query,
    QueryHeader, Shown, TAGS,
};
pub use library::Catalog;
pub use page::{Page, PageLayout, PageTable};
pub use questions::{
    Alternative, Answer, Ask, Attribution, Fact, FileSpec, NamePattern, Part, Pattern, PatternUse,
    Preset, PresetValue,
};
pub use recipes::recipe_help;
pub use relation::{Relation, RelationHeader, ScopeColumns};
pub use rules::{Rule, Rules, Setting};
pub use skeleton::query_skeleton;
pub use source::{EnumRow, Source, SourceColumn};
