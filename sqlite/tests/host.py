"""SQLite as a shared library, called as a program in C would: Python's own module is often built without extensions."""

import ctypes
import ctypes.util
import os

OK, ROW, DONE, INTERRUPT = 0, 100, 101, 9
READ_ONLY, URI, FULL_MUTEX = 1, 0x40, 0x10000
ENABLE_LOAD_EXTENSION = 1005
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
INTEGER, REAL, TEXT, BLOB, NULL = 1, 2, 3, 4, 5


def library():
    """The library that NSQ_TEST_SQLITE names, else the system's; None where there is none."""
    name = os.environ.get("NSQ_TEST_SQLITE") or ctypes.util.find_library("sqlite3")
    if not name:
        return None
    lib = ctypes.CDLL(name)
    lib.sqlite3_libversion.restype = ctypes.c_char_p
    lib.sqlite3_errmsg.restype = ctypes.c_char_p
    lib.sqlite3_column_name.restype = ctypes.c_char_p
    lib.sqlite3_column_int64.restype = ctypes.c_int64
    lib.sqlite3_column_double.restype = ctypes.c_double
    lib.sqlite3_column_text.restype = ctypes.c_void_p
    lib.sqlite3_memory_used.restype = ctypes.c_int64
    lib.sqlite3_mprintf.restype = ctypes.c_void_p
    return lib


class Failed(Exception):
    """An error of SQLite, with its code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Connection:
    """A connection with the extension, loaded by the program or by a statement."""

    def __init__(self, lib, report, extension, flags=READ_ONLY | URI | FULL_MUTEX, statement=False):
        self.lib, self.handle = lib, ctypes.c_void_p()
        code = lib.sqlite3_open_v2(report.encode(), ctypes.byref(self.handle), flags, None)
        self.check(code)
        if statement:
            lib.sqlite3_enable_load_extension(self.handle, ctypes.c_int(1))
            self.ask(f"SELECT load_extension('{extension}')")
            return
        on = ctypes.c_int()
        lib.sqlite3_db_config(self.handle, ENABLE_LOAD_EXTENSION, ctypes.c_int(1), ctypes.byref(on))
        message = ctypes.c_char_p()
        code = lib.sqlite3_load_extension(self.handle, extension.encode(), None, ctypes.byref(message))
        if code:
            text = (message.value or b"").decode()
            self.close()
            raise Failed(code, text)

    def check(self, code):
        if code not in (OK, ROW, DONE):
            raise Failed(code & 0xFF, self.lib.sqlite3_errmsg(self.handle).decode())

    def ask(self, sql, most=None):
        """The columns and rows of a statement."""
        statement = ctypes.c_void_p()
        self.check(self.lib.sqlite3_prepare_v2(self.handle, sql.encode(), -1, ctypes.byref(statement), None))
        try:
            width = self.lib.sqlite3_column_count(statement)
            columns = [self.lib.sqlite3_column_name(statement, i).decode() for i in range(width)]
            rows = []
            while most is None or len(rows) < most:
                code = self.lib.sqlite3_step(statement)
                self.check(code)
                if code == DONE:
                    break
                rows.append([self.cell(statement, i) for i in range(width)])
            return columns, rows
        finally:
            self.lib.sqlite3_finalize(statement)

    def cell(self, statement, i):
        kind = self.lib.sqlite3_column_type(statement, i)
        if kind == INTEGER:
            return self.lib.sqlite3_column_int64(statement, i)
        if kind == REAL:
            return self.lib.sqlite3_column_double(statement, i)
        if kind == TEXT:
            text = self.lib.sqlite3_column_text(statement, i)
            return ctypes.string_at(text, self.lib.sqlite3_column_bytes(statement, i)).decode(errors="replace")
        assert kind == NULL, "a blob"
        return None

    def rows(self, sql):
        return self.ask(sql)[1]

    def value(self, sql):
        return self.rows(sql)[0][0]

    def interrupt(self):
        self.lib.sqlite3_interrupt(self.handle)

    def limit(self, is_over):
        """Ends statements when the function returns true."""
        self.handler = PROGRESS(lambda _: int(is_over())) if is_over else PROGRESS()
        self.lib.sqlite3_progress_handler(self.handle, 1000 if is_over else 0, self.handler, None)

    def close(self):
        code = self.lib.sqlite3_close(self.handle)
        assert code == OK, f"the connection does not close: {code}"
