"""nsq as an extension of SQLite, which the wheel brings along."""

from pathlib import Path


def extension_path() -> str:
    """The file of nsq as an extension of SQLite, for ``sqlite3.Connection.load_extension`` and other programs.

    On a connection to an export of nsys, it adds all queries, relations and functions of nsq::

        connection.enable_load_extension(True)
        connection.load_extension(nsys_query.extension_path())
        connection.execute("SELECT * FROM top_kernels")
    """
    for name in ("nsq.so", "nsq.dylib"):
        path = Path(__file__).with_name(name)
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"no nsq.so beside {__file__}: install the wheel that python/build.sh makes")
