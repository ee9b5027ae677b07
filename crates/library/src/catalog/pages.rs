//! The pages of the library, with tables and with questions.

use super::built_in::BUILT_IN;
use super::entry::{Content, Entry, FileKind, PLAYBOOKS};
use super::library::Catalog;
use super::page::{ASSETS, LAYOUT, MANIFEST, Page, PageFiles, PageLayout, SHARED};
use nsq_files::bounded_file::{self, Origin};
use nsq_value::error::{Error, Result};
use std::path::Path;
use std::sync::OnceLock;

impl Catalog {
    /// Adds a file of the page `name`: its manifest, a layout or an asset. Other files are queries.
    pub(super) fn add_to_page(&mut self, name: &str, stem: String, extension: &str, entry: Entry<Page>) {
        let page = self.pages.entry(name.to_owned()).or_default();
        let (files, name) = match extension {
            LAYOUT => (&mut page.layouts, stem),
            asset if ASSETS.contains(&asset) => (&mut page.assets, format!("{stem}.{asset}")),
            _ => {
                if stem == MANIFEST {
                    page.manifest = Some(entry);
                }
                return;
            }
        };
        let Entry { file, content, .. } = entry;
        let is_built_in = file.starts_with(BUILT_IN);
        files.insert(name, PageLayout { file, text: content.text.into_owned(), is_built_in });
    }

    /// The page with this name.
    pub fn page(&self, name: &str) -> Result<&Page> {
        match self.pages.get(name).and_then(|files| files.manifest.as_ref()) {
            Some(entry) => entry.get(Page::parse),
            None => Err(Error::unknown(
                "page",
                name,
                self.page_names(),
                "`nsq list --pages` shows all pages.",
            )),
        }
    }

    /// The page with questions of this name. A file in the folder `playbooks` comes before a page.
    pub fn playbook(&self, name: &str) -> Result<&Page> {
        if let Some(entry) = self.playbooks.get(name) {
            return entry.get(Page::parse);
        }
        match self.pages.get(name).and_then(|files| files.manifest.as_ref()) {
            Some(entry) if entry.get(Page::parse).map_or(true, |page| !page.parts.is_empty()) => {
                entry.get(Page::parse)
            }
            _ => Err(Error::unknown(
                "playbook",
                name,
                self.readable_playbooks().iter().map(|page| page.name.as_str()),
                format!(
                    "playbooks: {}; `nsq list --playbooks` describes them (a file is given by its path, as ./mine.yml)",
                    self.readable_playbooks()
                        .iter()
                        .map(|page| page.name.as_str())
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            )),
        }
    }

    /// All readable pages with questions, sorted by name.
    pub fn readable_playbooks(&self) -> Vec<&Page> {
        let mut all: Vec<&Page> = self.manifests().filter(|page| !page.parts.is_empty()).collect();
        // The first of the same name is that of the folder `playbooks`.
        all.sort_by_key(|page| &page.name);
        all.dedup_by_key(|page| &page.name);
        all
    }

    /// All readable pages, and files of the folder `playbooks`.
    pub fn manifests(&self) -> impl Iterator<Item = &Page> {
        let own = self.playbooks.values().filter_map(|entry| entry.get(Page::parse).ok());
        own.chain(self.readable_pages())
    }

    /// Adds the playbook in the file at `path` and returns its name.
    pub fn add_playbook(&mut self, path: &Path) -> Result<String> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (file, domain) = (path.to_string_lossy().into_owned(), PLAYBOOKS.to_owned());
        let entry = Entry { file, domain, content: Content::from(text), parsed: OnceLock::new() };
        self.playbooks.insert(name.clone(), entry);
        Ok(name)
    }

    /// The names of all pages, including unreadable ones.
    pub fn page_names(&self) -> impl Iterator<Item = &str> {
        let is_whole = |(_, files): &(&String, &PageFiles)| files.manifest.is_some();
        self.pages.iter().filter(is_whole).map(|(name, _)| name.as_str())
    }

    /// All readable pages, sorted by name. [`Catalog::broken`] lists the others.
    pub fn readable_pages(&self) -> Vec<&Page> {
        self.page_names().filter_map(|name| self.page(name).ok()).collect()
    }

    /// Kind and path of the files of all pages, without their queries.
    pub(super) fn page_files(&self) -> impl Iterator<Item = (FileKind, &str)> {
        self.pages.values().flat_map(|files| {
            let manifest = files.manifest.iter().map(|entry| (FileKind::Page, entry.file.as_str()));
            let layouts = files.layouts.values().map(|file| (FileKind::PageLayout, file));
            let texts = layouts.chain(files.assets.values().map(|file| (FileKind::Asset, file)));
            manifest.chain(texts.map(|(kind, text)| (kind, text.file.as_str())))
        })
    }

    /// The layouts of a page, by name.
    pub fn layouts(&self, page: &str) -> impl Iterator<Item = (&str, &PageLayout)> {
        let layouts = self.pages.get(page).into_iter().flat_map(|files| &files.layouts);
        layouts.map(|(name, layout)| (name.as_str(), layout))
    }

    /// The assets that all pages share, then those of a page, by the names of their files.
    pub fn assets(&self, page: &str) -> impl Iterator<Item = (&str, &PageLayout)> {
        let pages = [SHARED, page].into_iter().filter_map(|page| self.pages.get(page));
        pages.flat_map(|files| &files.assets).map(|(name, asset)| (name.as_str(), asset))
    }
}
