#!/usr/bin/env python3
"""Writes the generated chapters of the book: `docs/reference.py NSQ SAMPLES SRC`.

Each query, page, relation and playbook gets a chapter: what `nsq show --format markdown` prints, an example
that runs here, and the SQL. SUMMARY.md gets them in place of its line `<!-- reference -->`, and every name of a query
or page that a chapter writes as `name` becomes a link. The same library and samples give the same bytes.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NSQ, SAMPLES, SRC = (Path(argument).resolve() for argument in sys.argv[1:4])
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NO_COLOR": "1"}
NO_ROWS = "(no rows)"
# What an example shows at most.
ROWS, LINES, WIDTH = 5, 40, 220
FOLDERS = {
    "cuda": "CUDA: kernels, calls, copies", "gpu": "The time of GPUs", "nvtx": "NVTX ranges and iterations",
    "findings": "Findings: what to fix", "ranks": "Ranks and collectives", "replay": "What binds, and what if", "serving": "Inference engines", "work": "FLOPs and efficiency",
    "memory": "Memory", "os": "The host", "report": "The report", "rules": "NVIDIA's rules", "answers": "Figures for playbooks",
    "mpi": "MPI", "parallel": "OpenMP and OpenACC", "graphics": "Graphics", "video": "Video",
}


def run(*arguments):
    return subprocess.run([NSQ, *arguments], cwd=SAMPLES, env=ENVIRONMENT, capture_output=True, text=True, errors="replace")


def listed(*options):
    """Names and summaries, by folder: `nsq list`."""
    answer = run("list", *options, "--format", "json")
    if answer.returncode == 2 and "--playbooks" in options:
        return []
    if answer.returncode:
        sys.exit(f"nsq list {' '.join(options)}: {answer.stderr}")
    return json.loads(answer.stdout)["rows"]


def golden_traces(query):
    """The traces for which the query has rows, as the tests of goldens know: sections `== trace` of its golden."""
    path = PROJECT / "tests" / "golden" / f"{query}.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [line[3:] for line in lines if line.startswith("== ") and not line.endswith(": no rows")]


def wanted_examples():
    """Examples that docs/examples.tsv names, since no report has rows without them."""
    lines = (PROJECT / "docs" / "examples.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def candidates(query):
    for report in ["fixtures/example.sqlite", *(f"{trace}.sqlite" for trace in golden_traces(query)), "fixtures/trace.json.gz"]:
        yield ["run", report, "--query", query, "--rows", str(ROWS)]


def shown(arguments, text):
    lines = [line if len(line) <= WIDTH else line[: WIDTH - 1].rstrip() + " …" for line in text.strip("\n").splitlines()]
    if len(lines) > LINES:
        lines = [*lines[:LINES], "…"]
    fence = "~~~~" if "```" in text else "```"
    body = "\n".join(lines)
    return f"\n## Example\n\n```console\n$ nsq {shlex.join(arguments)}\n```\n\n{fence}text\n{body}\n{fence}\n"


def example(tries):
    """The first command that answers with rows, and what it prints."""
    for arguments in tries:
        answer = run(*arguments)
        is_empty = not answer.stdout.strip() or arguments[0] in ("run", "sql") and NO_ROWS in answer.stdout
        if answer.returncode == 0 and not is_empty:
            return shown(arguments, answer.stdout)
    return "\n## Example\n\nNo report of this project has rows for it; real ones do.\n"


def sql(path):
    """The statement of a file, without its front matter."""
    text = (PROJECT / path).read_text("utf-8")
    statement = text.split("---*/", 1)[-1].strip()
    return f"\n<details>\n<summary>SQL</summary>\n\n```sql\n{statement}\n```\n\n</details>\n" if statement else ""


def source_of(page):
    found = re.search(r"`(?:built-in:)?(queries/[^`]+\.sql)`", page)
    return found and (PROJECT / found[1]).is_file() and found[1]


def chapter(kind, name, tries):
    page = run("show", name, "--format", "markdown")
    if page.returncode:
        sys.exit(f"nsq show {name}: {page.stderr}")
    text = page.stdout.replace("`built-in:", "`")
    # After the sentences that say what it is, before the lists.
    about, mark, rest = text.partition("\n## ")
    text = about + (example(tries) if tries else "") + mark + rest
    path = kind == "pages" or source_of(text)
    if path and path is not True:
        text += sql(path)
    target = SRC / "reference" / kind / f"{name}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")


def table(rows, kind, heads=("name", "what it is")):
    lines = [f"| {heads[0]} | {heads[1]} |", "|---|---|"]
    for row in rows:
        summary = row["summary"].replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| [`{row['name']}`]({kind}/{row['name']}.md) | {summary} |")
    return "\n".join(lines)


def index(name, title, intro, body):
    (SRC / "reference" / f"{name}.md").write_text(f"# {title}\n\n{intro}\n\n{body}\n", "utf-8")


def by_folder(queries):
    """Queries by folder, in the order of FOLDERS; folders that it does not know come after, under their own names."""
    folders = {}
    for row in queries:
        folders.setdefault(row["domain"], []).append(row)
    known = [folder for folder in FOLDERS if folder in folders]
    return [(folder, folders[folder]) for folder in [*known, *sorted(set(folders) - set(known))]]


def linked(text, targets, here):
    """Makes `name` in prose a link to the chapter about it. Code, headings, links and lists of columns stay as they are."""
    out, fenced, section = [], False, ""
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~~")):
            fenced = not fenced
        if line.startswith("#"):
            section = line
        if fenced or line.startswith("#") or (here.parts[0] == "reference" and line.startswith(("- `", "| `"))):
            out.append(line)
            continue

        def link(found):
            target = targets.get(found[1])
            is_meant = "_" in found[1] or section in ("## See also", "## Source") or here.parts[0] != "reference"
            if target is None or target == here or not is_meant:
                return found[0]
            return f"[{found[0]}]({os.path.relpath(target, here.parent)})"

        out.append(re.sub(r"(?<!\[)`([a-z][a-z0-9_]*)`(?!\])", link, line))
    return "\n".join(out)


def main():
    queries, relations, pages = listed(), listed("--relations"), listed("--pages")
    classes, playbooks, functions = listed("--classes"), listed("--playbooks"), listed("--functions")
    named = wanted_examples()
    jobs = []

    def add(kind, row, tries):
        name = row["name"]
        jobs.append((kind, name, [shlex.split(named[name])] if name in named else tries))

    for row in queries:
        add("queries", row, list(candidates(row["name"])))
    for row in relations:
        statement = f"SELECT * FROM {row['name']} LIMIT 3"
        traces = sorted(path.name for path in SAMPLES.glob("*.sqlite"))
        add("relations", row, [["sql", report, statement] for report in ["fixtures/example.sqlite", *traces, "fixtures/trace.json.gz"]])
    for row in pages:
        add("pages", row, [["page", row["name"], "fixtures/example.sqlite"]])
    for row in playbooks:
        add("playbooks", row, [["answer", "training_steps.sqlite", "--playbook", row["name"]]])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: chapter(*job), jobs))

    folders = by_folder(queries)
    summary = ["# Reference", ""]
    listing = []
    for folder, rows in folders:
        title = f"For the page {folder.removeprefix('pages/')}" if folder.startswith("pages/") else FOLDERS.get(folder, folder)
        listing.append(f"## {title}\n\n" + table(rows, "queries", ("query", "a row is")))
        name = "queries-" + folder.replace("/", "-")
        index(name, title, f"Queries in the folder `queries/{folder}`.", table(rows, "queries", ("query", "a row is")))
        summary.append((name, title, "queries", rows))
    intro = (
        "Each query is a file of SQL with its documentation. `nsq list WORD…` finds them, and `nsq show NAME` prints what a "
        "chapter here says. NVIDIA's arguments after colons (`cuda_gpu_kern_sum:base`) and old names (`gpukernsum`) work too."
    )
    index("queries", "Queries", intro, "\n\n".join(listing))
    index("relations", "Relations", "The tables that `nsq sql` and queries read, the same for every version of nsys.",
          table(relations, "relations", ("relation", "a row is")))
    index("pages", "Pages", "A page is several queries and a layout: `nsq run REPORT -q NAME`.", table(pages, "pages", ("page", "what it shows")))
    if playbooks:
        index("playbooks", "Playbooks", "Questions that `nsq answer` answers in sentences.",
              table(playbooks, "playbooks", ("playbook", "what it asks")))
    words = "\n".join(f"- `{row['name']}`: {row['summary']}" for row in functions)
    index("functions", "SQL functions", "What nsq adds to the functions of SQLite.", words)
    maps = "\n".join(f"- `{row['name']}`, {row['rules']} rules: {row['summary']}" for row in classes)
    index("classes", "Class maps", "Ordered rules that give a kernel its class: `--classes NAME`. `nsq show NAME` prints the rules.", maps)

    lines = ["# Reference", "", "- [Queries](reference/queries.md)"]
    for name, title, kind, rows in summary[2:]:
        lines.append(f"  - [{title}](reference/{name}.md)")
        lines += [f"    - [{row['name']}](reference/{kind}/{row['name']}.md)" for row in rows]
    for kind, title, rows in (("pages", "Pages", pages), ("relations", "Relations", relations), ("playbooks", "Playbooks", playbooks)):
        if not rows:
            continue
        lines.append(f"- [{title}](reference/{kind}.md)")
        lines += [f"  - [{row['name']}](reference/{kind}/{row['name']}.md)" for row in rows]
    lines += ["- [SQL functions](reference/functions.md)", "- [Class maps](reference/classes.md)"]
    contents = (SRC / "SUMMARY.md").read_text("utf-8")
    if "<!-- reference -->" not in contents:
        sys.exit("docs/src/SUMMARY.md: no line <!-- reference -->")
    (SRC / "SUMMARY.md").write_text(contents.replace("<!-- reference -->", "\n".join(lines)), "utf-8")

    # A query is meant before a page, and a page before a relation of the same name.
    targets = {}
    for kind, rows in (("relations", relations), ("pages", pages), ("queries", queries)):
        targets |= {row["name"]: Path("reference") / kind / f"{row['name']}.md" for row in rows}
    for path in SRC.rglob("*.md"):
        if path.name != "SUMMARY.md":
            text = path.read_text("utf-8")
            path.write_text(linked(text, targets, path.relative_to(SRC)), "utf-8")
    counts = f"{len(queries)} queries, {len(relations)} relations, {len(pages)} pages, {len(playbooks)} playbooks"
    without = [name for kind, name, _ in jobs if "\nNo report of this project has rows" in (SRC / "reference" / kind / f"{name}.md").read_text("utf-8")]
    print(f"{counts}; without an example: {', '.join(without) or 'none'}")


main()
