"""The notebook of the documentation runs from open to plot."""

import nbformat
from nbclient import NotebookClient


def test_the_first_look():
    notebook = nbformat.read("docs/first_look.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the repository"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": "docs"}}).execute()
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in data for data in shown) == 2
    assert sum('<div class="nsq">' in data.get("text/html", "") for data in shown) >= 4
