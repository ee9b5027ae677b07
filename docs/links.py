#!/usr/bin/env python3
"""Follows every link: `docs/links.py BOOK`, where BOOK is the folder that docs/build.sh made.

Links in the book's pages lead to a file of the book, and to an anchor that is there. Links in README.md and the other
Markdown files of the project lead to files and headings of the project. Every chapter is in the table of contents, and
no page asks another host for anything. Addresses of other hosts are not opened.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PROJECT = Path(__file__).resolve().parent.parent
BOOK = Path(sys.argv[1]).resolve()
HTML = BOOK / "book"
PROJECT_FILES = ["README.md", "CHANGELOG.md", "queries/README.md", "fixtures/README.md", "python/README.md", "docs/src/**/*.md"]
# Chapters that docs/build.sh adds.
ADDED = {"docs/src/changes.md", "docs/src/writing.md"}


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {""}, [], []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        self.loads += [attributes[name] for name in ("src", "data-src") if attributes.get(name)]
        if tag == "link" and attributes.get("href"):
            self.loads.append(attributes["href"])


def is_elsewhere(link):
    return urlsplit(link).scheme in ("http", "https", "mailto") or link.startswith("//")


def book_faults():
    pages = {path: Page(path) for path in sorted(HTML.rglob("*.html"))}
    links = 0
    for path, page in pages.items():
        name = path.relative_to(HTML)
        # This page is shown at any address.
        if name.name in ("404.html", "toc.html", "print.html"):
            continue
        for load in page.loads:
            if is_elsewhere(load):
                yield f"{name}: loads {load} from another host"
        for link in page.links:
            links += 1
            if is_elsewhere(link):
                continue
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name}: {link}: no such file"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: {link}: no such anchor"
    contents = (BOOK / "src" / "SUMMARY.md").read_text("utf-8")
    for path in sorted((BOOK / "src").rglob("*.md")):
        chapter = path.relative_to(BOOK / "src").as_posix()
        if chapter != "SUMMARY.md" and f"({chapter})" not in contents:
            yield f"src/{chapter}: not in SUMMARY.md"
    print(f"{len(pages)} pages and {links} links in the book")


def slug(heading):
    """The anchor that a heading of Markdown gets."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M))


def project_faults():
    links = 0
    for pattern in PROJECT_FILES:
        for path in sorted(PROJECT.glob(pattern)):
            name = path.relative_to(PROJECT)
            for link in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text("utf-8"))):
                links += 1
                parts = urlsplit(link)
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                inside = target.relative_to(PROJECT).as_posix() if target.is_relative_to(PROJECT) else link
                is_generated = inside.startswith("docs/src/reference/") or inside in ADDED
                if is_elsewhere(link) or is_generated and name.parts[0] == "docs":
                    continue
                if not target.exists():
                    yield f"{name}: {link}: no such file"
                elif parts.fragment and target.suffix == ".md":
                    headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), flags=re.M)
                    if parts.fragment not in map(slug, headings):
                        yield f"{name}: {link}: no such heading"
    print(f"{links} links in Markdown files of the project")


faults = [*book_faults(), *project_faults()]
print("\n".join(faults) or "every link leads somewhere")
sys.exit(1 if faults else 0)
