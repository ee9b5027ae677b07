/*
** The functions of SQLite that nsq calls, each passed on to the SQLite that loaded the extension.
**
** nsq's crates are linked with a SQLite of their own. The linker takes these functions instead, because it has them first, and
** then leaves nsq's SQLite out: so one build of the crates serves both the program and the extension. Here is all that extensions may
** call. If nsq comes to call another function, linking fails with "duplicate symbol".
*/
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>

/* Leaves out the macros that would replace the names below. */
#define SQLITE_CORE 1
#include "sqlite3ext.h"

static const sqlite3_api_routines *host;

typedef void (*destructor)(void *);
typedef int (*progress)(void *);
typedef int (*authorizer)(void *, int, const char *, const char *, const char *, const char *);
typedef void (*per_row)(sqlite3_context *, int, sqlite3_value **);
typedef void (*at_end)(sqlite3_context *);

/* The version in which the newest function is that nsq cannot do without, and whose SQL the queries are written in. */
#define OLDEST 3040000

/*
** Takes the functions of the SQLite that loads the extension. Returns what is wrong with it, or NULL. Another connection of
** the same program brings the same functions.
*/
const char *nsq_host_begin(const sqlite3_api_routines *api) {
  sqlite3_mutex *mutex;
  if (api->libversion_number() < OLDEST) {
    return "nsq needs SQLite 3.40 or newer";
  }
  /* nsq computes on threads of its own. */
  mutex = api->mutex_alloc ? api->mutex_alloc(SQLITE_MUTEX_FAST) : NULL;
  if (mutex == NULL) {
    return "nsq needs a SQLite with threads: this one was built or configured without";
  }
  api->mutex_free(mutex);
  host = api;
  return NULL;
}

/* A copy of a message, which SQLite frees. */
char *nsq_host_message(const sqlite3_api_routines *api, const char *text) { return api->mprintf("%s", text); }

/*
** Whether the statement that runs on the connection is to end: it was interrupted, or the program's progress handler says so, by which
** Datasette ends a statement after a time. SQLite calls that after some thousand steps, so this statement takes a few.
*/
int nsq_host_is_over(sqlite3 *a) {
  return host->exec(a,
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT max(i) FROM n",
    NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

#define TAKE(result, name, parameters, arguments) \
  result sqlite3_##name parameters { return host->name arguments; }
#define GIVE(name, parameters, arguments) \
  void sqlite3_##name parameters { host->name arguments; }

TAKE(void *, aggregate_context, (sqlite3_context *a, int b), (a, b))
TAKE(int, autovacuum_pages, (sqlite3 *a, unsigned int(*b)(void*,const char*,unsigned int,unsigned int,unsigned int), void *c, destructor d), (a, b, c, d))
TAKE(int, backup_finish, (sqlite3_backup *a), (a))
TAKE(sqlite3_backup *, backup_init, (sqlite3 *a, const char *b, sqlite3 *c, const char *d), (a, b, c, d))
TAKE(int, backup_pagecount, (sqlite3_backup *a), (a))
TAKE(int, backup_remaining, (sqlite3_backup *a), (a))
TAKE(int, backup_step, (sqlite3_backup *a, int b), (a, b))
TAKE(int, bind_blob, (sqlite3_stmt *a, int b, const void *c, int d, destructor e), (a, b, c, d, e))
TAKE(int, bind_blob64, (sqlite3_stmt *a, int b, const void *c, sqlite3_uint64 d, destructor e), (a, b, c, d, e))
TAKE(int, bind_double, (sqlite3_stmt *a, int b, double c), (a, b, c))
TAKE(int, bind_int, (sqlite3_stmt *a, int b, int c), (a, b, c))
TAKE(int, bind_int64, (sqlite3_stmt *a, int b, sqlite3_int64 c), (a, b, c))
TAKE(int, bind_null, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, bind_parameter_count, (sqlite3_stmt *a), (a))
TAKE(int, bind_parameter_index, (sqlite3_stmt *a, const char *b), (a, b))
TAKE(const char *, bind_parameter_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, bind_pointer, (sqlite3_stmt *a, int b, void *c, const char *d, destructor e), (a, b, c, d, e))
TAKE(int, bind_text, (sqlite3_stmt *a, int b, const char *c, int d, destructor e), (a, b, c, d, e))
TAKE(int, bind_text16, (sqlite3_stmt *a, int b, const void *c, int d, destructor e), (a, b, c, d, e))
TAKE(int, bind_text64, (sqlite3_stmt *a, int b, const char *c, sqlite3_uint64 d, destructor e, unsigned char f), (a, b, c, d, e, f))
TAKE(int, bind_value, (sqlite3_stmt *a, int b, const sqlite3_value *c), (a, b, c))
TAKE(int, bind_zeroblob, (sqlite3_stmt *a, int b, int c), (a, b, c))
TAKE(int, bind_zeroblob64, (sqlite3_stmt *a, int b, sqlite3_uint64 c), (a, b, c))
TAKE(int, blob_bytes, (sqlite3_blob *a), (a))
TAKE(int, blob_close, (sqlite3_blob *a), (a))
TAKE(int, blob_open, (sqlite3 *a, const char *b, const char *c, const char *d, sqlite3_int64 e, int f, sqlite3_blob **g), (a, b, c, d, e, f, g))
TAKE(int, blob_read, (sqlite3_blob *a, void *b, int c, int d), (a, b, c, d))
TAKE(int, blob_reopen, (sqlite3_blob *a, sqlite3_int64 b), (a, b))
TAKE(int, blob_write, (sqlite3_blob *a, const void *b, int c, int d), (a, b, c, d))
TAKE(int, busy_handler, (sqlite3 *a, int(*b)(void*,int), void *c), (a, b, c))
TAKE(int, busy_timeout, (sqlite3 *a, int b), (a, b))
TAKE(int, changes, (sqlite3 *a), (a))
TAKE(sqlite3_int64, changes64, (sqlite3 *a), (a))
TAKE(int, clear_bindings, (sqlite3_stmt *a), (a))
TAKE(int, close_v2, (sqlite3 *a), (a))
TAKE(int, collation_needed, (sqlite3 *a, void *b, void(*c)(void*,sqlite3*, int eTextRep,const char*)), (a, b, c))
TAKE(int, collation_needed16, (sqlite3 *a, void *b, void(*c)(void*,sqlite3*, int eTextRep,const void*)), (a, b, c))
TAKE(const void *, column_blob, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_bytes, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_bytes16, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_count, (sqlite3_stmt *a), (a))
TAKE(const char *, column_database_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_database_name16, (sqlite3_stmt *a, int b), (a, b))
TAKE(const char *, column_decltype, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_decltype16, (sqlite3_stmt *a, int b), (a, b))
TAKE(double, column_double, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_int, (sqlite3_stmt *a, int b), (a, b))
TAKE(sqlite3_int64, column_int64, (sqlite3_stmt *a, int b), (a, b))
TAKE(const char *, column_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_name16, (sqlite3_stmt *a, int b), (a, b))
TAKE(const char *, column_origin_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_origin_name16, (sqlite3_stmt *a, int b), (a, b))
TAKE(const char *, column_table_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_table_name16, (sqlite3_stmt *a, int b), (a, b))
TAKE(const unsigned char *, column_text, (sqlite3_stmt *a, int b), (a, b))
TAKE(const void *, column_text16, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_type, (sqlite3_stmt *a, int b), (a, b))
TAKE(sqlite3_value*, column_value, (sqlite3_stmt *a, int b), (a, b))
TAKE(void *, commit_hook, (sqlite3 *a, progress b, void *c), (a, b, c))
TAKE(const char *, compileoption_get, (int a), (a))
TAKE(int, compileoption_used, (const char *a), (a))
TAKE(int, complete, (const char *a), (a))
TAKE(int, complete16, (const void *a), (a))
TAKE(sqlite3 *, context_db_handle, (sqlite3_context *a), (a))
TAKE(int, create_collation, (sqlite3 *a, const char *b, int c, void *d, int(*e)(void*,int,const void*,int,const void*)), (a, b, c, d, e))
TAKE(int, create_collation16, (sqlite3 *a, const void *b, int c, void *d, int(*e)(void*,int,const void*,int,const void*)), (a, b, c, d, e))
TAKE(int, create_collation_v2, (sqlite3 *a, const char *b, int c, void *d, int(*e)(void*,int,const void*,int,const void*), destructor f), (a, b, c, d, e, f))
TAKE(const char *, create_filename, (const char *a, const char *b, const char *c, int d, const char **e), (a, b, c, d, e))
TAKE(int, create_function, (sqlite3 *a, const char *b, int c, int d, void *e, per_row f, per_row g, at_end h), (a, b, c, d, e, f, g, h))
TAKE(int, create_function16, (sqlite3 *a, const void *b, int c, int d, void *e, per_row f, per_row g, at_end h), (a, b, c, d, e, f, g, h))
TAKE(int, create_function_v2, (sqlite3 *a, const char *b, int c, int d, void *e, per_row f, per_row g, at_end h, destructor i), (a, b, c, d, e, f, g, h, i))
TAKE(int, create_module, (sqlite3 *a, const char *b, const sqlite3_module *c, void *d), (a, b, c, d))
TAKE(int, create_module_v2, (sqlite3 *a, const char *b, const sqlite3_module *c, void *d, destructor e), (a, b, c, d, e))
TAKE(int, create_window_function, (sqlite3 *a, const char *b, int c, int d, void *e, per_row f, at_end g, at_end h, void (*i)(sqlite3_context*,int,sqlite3_value**), destructor j), (a, b, c, d, e, f, g, h, i, j))
TAKE(int, data_count, (sqlite3_stmt *a), (a))
TAKE(sqlite3_file *, database_file_object, (const char *a), (a))
TAKE(int, db_cacheflush, (sqlite3 *a), (a))
TAKE(const char *, db_filename, (sqlite3 *a, const char *b), (a, b))
TAKE(sqlite3 *, db_handle, (sqlite3_stmt *a), (a))
TAKE(sqlite3_mutex *, db_mutex, (sqlite3 *a), (a))
TAKE(const char *, db_name, (sqlite3 *a, int b), (a, b))
TAKE(int, db_readonly, (sqlite3 *a, const char *b), (a, b))
TAKE(int, db_release_memory, (sqlite3 *a), (a))
TAKE(int, db_status, (sqlite3 *a, int b, int *c, int *d, int e), (a, b, c, d, e))
TAKE(int, declare_vtab, (sqlite3 *a, const char *b), (a, b))
TAKE(int, deserialize, (sqlite3 *a, const char *b, unsigned char *c, sqlite3_int64 d, sqlite3_int64 e, unsigned f), (a, b, c, d, e, f))
TAKE(int, drop_modules, (sqlite3 *a, const char **b), (a, b))
TAKE(int, enable_shared_cache, (int a), (a))
TAKE(int, errcode, (sqlite3 *a), (a))
TAKE(const char *, errmsg, (sqlite3 *a), (a))
TAKE(const void *, errmsg16, (sqlite3 *a), (a))
TAKE(int, error_offset, (sqlite3 *a), (a))
TAKE(const char *, errstr, (int a), (a))
TAKE(int, exec, (sqlite3 *a, const char *b, sqlite3_callback c, void *d, char **e), (a, b, c, d, e))
TAKE(char *, expanded_sql, (sqlite3_stmt *a), (a))
TAKE(int, extended_errcode, (sqlite3 *a), (a))
TAKE(int, extended_result_codes, (sqlite3 *a, int b), (a, b))
TAKE(int, file_control, (sqlite3 *a, const char *b, int c, void *d), (a, b, c, d))
TAKE(const char *, filename_database, (const char *a), (a))
TAKE(const char *, filename_journal, (const char *a), (a))
TAKE(const char *, filename_wal, (const char *a), (a))
TAKE(int, finalize, (sqlite3_stmt *a), (a))
GIVE(free, (void *a), (a))
GIVE(free_filename, (const char *a), (a))
GIVE(free_table, (char **a), (a))
TAKE(int, get_autocommit, (sqlite3 *a), (a))
TAKE(void *, get_auxdata, (sqlite3_context *a, int b), (a, b))
TAKE(int, get_table, (sqlite3 *a, const char *b, char* **c, int *d, int *e, char **f), (a, b, c, d, e, f))
TAKE(sqlite3_int64, hard_heap_limit64, (sqlite3_int64 a), (a))
TAKE(int, keyword_check, (const char *a, int b), (a, b))
TAKE(int, keyword_count, (void), ())
TAKE(int, keyword_name, (int a, const char **b, int *c), (a, b, c))
TAKE(sqlite3_int64, last_insert_rowid, (sqlite3 *a), (a))
TAKE(const char *, libversion, (void), ())
TAKE(int, libversion_number, (void), ())
TAKE(int, limit, (sqlite3 *a, int b, int c), (a, b, c))
TAKE(int, load_extension, (sqlite3 *a, const char *b, const char *c, char **d), (a, b, c, d))
TAKE(void *, malloc, (int a), (a))
TAKE(void *, malloc64, (sqlite3_uint64 a), (a))
TAKE(sqlite3_int64, memory_highwater, (int a), (a))
TAKE(sqlite3_int64, memory_used, (void), ())
TAKE(sqlite3_uint64, msize, (void *a), (a))
TAKE(sqlite3_mutex *, mutex_alloc, (int a), (a))
GIVE(mutex_enter, (sqlite3_mutex *a), (a))
GIVE(mutex_free, (sqlite3_mutex *a), (a))
GIVE(mutex_leave, (sqlite3_mutex *a), (a))
TAKE(int, mutex_try, (sqlite3_mutex *a), (a))
TAKE(sqlite3_stmt *, next_stmt, (sqlite3 *a, sqlite3_stmt *b), (a, b))
TAKE(const char *, normalized_sql, (sqlite3_stmt *a), (a))
TAKE(int, open, (const char *a, sqlite3 **b), (a, b))
TAKE(int, open16, (const void *a, sqlite3 **b), (a, b))
TAKE(int, open_v2, (const char *a, sqlite3 **b, int c, const char *d), (a, b, c, d))
TAKE(int, overload_function, (sqlite3 *a, const char *b, int c), (a, b, c))
TAKE(int, prepare, (sqlite3 *a, const char *b, int c, sqlite3_stmt **d, const char **e), (a, b, c, d, e))
TAKE(int, prepare16, (sqlite3 *a, const void *b, int c, sqlite3_stmt **d, const void **e), (a, b, c, d, e))
TAKE(int, prepare16_v2, (sqlite3 *a, const void *b, int c, sqlite3_stmt **d, const void **e), (a, b, c, d, e))
TAKE(int, prepare16_v3, (sqlite3 *a, const void *b, int c, unsigned int d, sqlite3_stmt **e, const void **f), (a, b, c, d, e, f))
TAKE(int, prepare_v2, (sqlite3 *a, const char *b, int c, sqlite3_stmt **d, const char **e), (a, b, c, d, e))
TAKE(int, prepare_v3, (sqlite3 *a, const char *b, int c, unsigned int d, sqlite3_stmt **e, const char **f), (a, b, c, d, e, f))
TAKE(void *, profile, (sqlite3 *a, void(*b)(void*,const char*,sqlite_uint64), void *c), (a, b, c))
GIVE(progress_handler, (sqlite3 *a, int b, progress c, void *d), (a, b, c, d))
GIVE(randomness, (int a, void *b), (a, b))
TAKE(void *, realloc, (void *a, int b), (a, b))
TAKE(void *, realloc64, (void *a, sqlite3_uint64 b), (a, b))
TAKE(int, release_memory, (int a), (a))
TAKE(int, reset, (sqlite3_stmt *a), (a))
GIVE(result_blob, (sqlite3_context *a, const void *b, int c, destructor d), (a, b, c, d))
GIVE(result_blob64, (sqlite3_context *a, const void *b, sqlite3_uint64 c, destructor d), (a, b, c, d))
GIVE(result_double, (sqlite3_context *a, double b), (a, b))
GIVE(result_error, (sqlite3_context *a, const char *b, int c), (a, b, c))
GIVE(result_error16, (sqlite3_context *a, const void *b, int c), (a, b, c))
GIVE(result_error_code, (sqlite3_context *a, int b), (a, b))
GIVE(result_error_nomem, (sqlite3_context *a), (a))
GIVE(result_error_toobig, (sqlite3_context *a), (a))
GIVE(result_int, (sqlite3_context *a, int b), (a, b))
GIVE(result_int64, (sqlite3_context *a, sqlite3_int64 b), (a, b))
GIVE(result_null, (sqlite3_context *a), (a))
GIVE(result_pointer, (sqlite3_context *a, void *b, const char *c, destructor d), (a, b, c, d))
GIVE(result_subtype, (sqlite3_context *a, unsigned int b), (a, b))
GIVE(result_text, (sqlite3_context *a, const char *b, int c, destructor d), (a, b, c, d))
GIVE(result_text16, (sqlite3_context *a, const void *b, int c, destructor d), (a, b, c, d))
GIVE(result_text16be, (sqlite3_context *a, const void *b, int c, destructor d), (a, b, c, d))
GIVE(result_text16le, (sqlite3_context *a, const void *b, int c, destructor d), (a, b, c, d))
GIVE(result_text64, (sqlite3_context *a, const char *b, sqlite3_uint64 c, destructor d, unsigned char e), (a, b, c, d, e))
GIVE(result_value, (sqlite3_context *a, sqlite3_value *b), (a, b))
GIVE(result_zeroblob, (sqlite3_context *a, int b), (a, b))
TAKE(int, result_zeroblob64, (sqlite3_context *a, sqlite3_uint64 b), (a, b))
TAKE(void *, rollback_hook, (sqlite3 *a, destructor b, void *c), (a, b, c))
TAKE(unsigned char *, serialize, (sqlite3 *a, const char *b, sqlite3_int64 *c, unsigned int d), (a, b, c, d))
TAKE(int, set_authorizer, (sqlite3 *a, authorizer b, void *c), (a, b, c))
GIVE(set_auxdata, (sqlite3_context *a, int b, void *c, destructor d), (a, b, c, d))
GIVE(set_last_insert_rowid, (sqlite3 *a, sqlite3_int64 b), (a, b))
TAKE(int, sleep, (int a), (a))
GIVE(soft_heap_limit, (int a), (a))
TAKE(sqlite3_int64, soft_heap_limit64, (sqlite3_int64 a), (a))
TAKE(const char *, sourceid, (void), ())
TAKE(const char *, sql, (sqlite3_stmt *a), (a))
TAKE(int, status, (int a, int *b, int *c, int d), (a, b, c, d))
TAKE(int, status64, (int a, sqlite3_int64 *b, sqlite3_int64 *c, int d), (a, b, c, d))
TAKE(int, step, (sqlite3_stmt *a), (a))
TAKE(int, stmt_busy, (sqlite3_stmt *a), (a))
TAKE(int, stmt_isexplain, (sqlite3_stmt *a), (a))
TAKE(int, stmt_readonly, (sqlite3_stmt *a), (a))
TAKE(int, stmt_status, (sqlite3_stmt *a, int b, int c), (a, b, c))
GIVE(str_append, (sqlite3_str *a, const char *b, int c), (a, b, c))
GIVE(str_appendall, (sqlite3_str *a, const char *b), (a, b))
GIVE(str_appendchar, (sqlite3_str *a, int b, char c), (a, b, c))
TAKE(int, str_errcode, (sqlite3_str *a), (a))
TAKE(char *, str_finish, (sqlite3_str *a), (a))
TAKE(int, str_length, (sqlite3_str *a), (a))
TAKE(sqlite3_str *, str_new, (sqlite3 *a), (a))
GIVE(str_reset, (sqlite3_str *a), (a))
TAKE(char *, str_value, (sqlite3_str *a), (a))
TAKE(int, strglob, (const char *a, const char *b), (a, b))
TAKE(int, stricmp, (const char *a, const char *b), (a, b))
TAKE(int, strlike, (const char *a, const char *b, unsigned int c), (a, b, c))
TAKE(int, strnicmp, (const char *a, const char *b, int c), (a, b, c))
TAKE(int, system_errno, (sqlite3 *a), (a))
TAKE(int, table_column_metadata, (sqlite3 *a, const char *b, const char *c, const char *d, char const **e, char const **f, int *g, int *h, int *i), (a, b, c, d, e, f, g, h, i))
TAKE(int, total_changes, (sqlite3 *a), (a))
TAKE(sqlite3_int64, total_changes64, (sqlite3 *a), (a))
TAKE(void *, trace, (sqlite3 *a, void(*b)(void*,const char*), void *c), (a, b, c))
TAKE(int, trace_v2, (sqlite3 *a, unsigned b, int(*c)(unsigned,void*,void*,void*), void *d), (a, b, c, d))
TAKE(int, txn_state, (sqlite3 *a, const char *b), (a, b))
TAKE(void *, update_hook, (sqlite3 *a, void(*b)(void*,int ,char const*,char const*, sqlite_int64), void *c), (a, b, c))
TAKE(int, uri_boolean, (const char *a, const char *b, int c), (a, b, c))
TAKE(sqlite3_int64, uri_int64, (const char *a, const char *b, sqlite3_int64 c), (a, b, c))
TAKE(const char *, uri_key, (const char *a, int b), (a, b))
TAKE(const char *, uri_parameter, (const char *a, const char *b), (a, b))
TAKE(void *, user_data, (sqlite3_context *a), (a))
TAKE(const void *, value_blob, (sqlite3_value *a), (a))
TAKE(int, value_bytes, (sqlite3_value *a), (a))
TAKE(int, value_bytes16, (sqlite3_value *a), (a))
TAKE(double, value_double, (sqlite3_value *a), (a))
TAKE(sqlite3_value *, value_dup, (const sqlite3_value *a), (a))
TAKE(int, value_encoding, (sqlite3_value *a), (a))
GIVE(value_free, (sqlite3_value *a), (a))
TAKE(int, value_frombind, (sqlite3_value *a), (a))
TAKE(int, value_int, (sqlite3_value *a), (a))
TAKE(sqlite3_int64, value_int64, (sqlite3_value *a), (a))
TAKE(int, value_nochange, (sqlite3_value *a), (a))
TAKE(int, value_numeric_type, (sqlite3_value *a), (a))
TAKE(void *, value_pointer, (sqlite3_value *a, const char *b), (a, b))
TAKE(unsigned int, value_subtype, (sqlite3_value *a), (a))
TAKE(const unsigned char *, value_text, (sqlite3_value *a), (a))
TAKE(const void *, value_text16, (sqlite3_value *a), (a))
TAKE(const void *, value_text16be, (sqlite3_value *a), (a))
TAKE(const void *, value_text16le, (sqlite3_value *a), (a))
TAKE(int, value_type, (sqlite3_value *a), (a))
TAKE(sqlite3_vfs *, vfs_find, (const char *a), (a))
TAKE(int, vfs_register, (sqlite3_vfs *a, int b), (a, b))
TAKE(int, vfs_unregister, (sqlite3_vfs *a), (a))
TAKE(const char *, vtab_collation, (sqlite3_index_info *a, int b), (a, b))
TAKE(int, vtab_distinct, (sqlite3_index_info *a), (a))
TAKE(int, vtab_in, (sqlite3_index_info *a, int b, int c), (a, b, c))
TAKE(int, vtab_in_first, (sqlite3_value *a, sqlite3_value **b), (a, b))
TAKE(int, vtab_in_next, (sqlite3_value *a, sqlite3_value **b), (a, b))
TAKE(int, vtab_nochange, (sqlite3_context *a), (a))
TAKE(int, vtab_on_conflict, (sqlite3 *a), (a))
TAKE(int, vtab_rhs_value, (sqlite3_index_info *a, int b, sqlite3_value **c), (a, b, c))
TAKE(int, wal_autocheckpoint, (sqlite3 *a, int b), (a, b))
TAKE(int, wal_checkpoint, (sqlite3 *a, const char *b), (a, b))
TAKE(int, wal_checkpoint_v2, (sqlite3 *a, const char *b, int c, int *d, int *e), (a, b, c, d, e))
TAKE(void *, wal_hook, (sqlite3 *a, int(*b)(void*,sqlite3*,const char*,int), void *c), (a, b, c))
TAKE(int, xthreadsafe, (void), ())

void sqlite3_interrupt(sqlite3 *a) { host->interruptx(a); }

/* The options of a connection that nsq sets take an int and the place of the answer. */
int sqlite3_db_config(sqlite3 *a, int option, ...) {
  va_list list;
  int on, *now;
  va_start(list, option);
  on = va_arg(list, int);
  now = va_arg(list, int *);
  va_end(list);
  return host->db_config(a, option, on, now);
}

/* Those of a virtual table that nsq sets take nothing. */
int sqlite3_vtab_config(sqlite3 *a, int option, ...) { return host->vtab_config(a, option); }

/* nsq_host_begin() has refused a SQLite without threads. */
int sqlite3_threadsafe(void) { return 1; }

/* The host configures its SQLite. */
int sqlite3_config(int option, ...) {
  (void)option;
  return SQLITE_MISUSE;
}

int sqlite3_auto_extension(void (*entry)(void)) {
  (void)entry;
  return SQLITE_MISUSE;
}

int sqlite3_cancel_auto_extension(void (*entry)(void)) {
  (void)entry;
  return 0;
}

void sqlite3_reset_auto_extension(void) {}

/* What newer versions have. */

int sqlite3_set_errmsg(sqlite3 *a, int code, const char *message) {
  return host->libversion_number() >= 3051000 ? host->set_errmsg(a, code, message) : SQLITE_OK;
}

int sqlite3_is_interrupted(sqlite3 *a) {
  return host->libversion_number() >= 3041000 ? host->is_interrupted(a) : 0;
}

/* On older versions, the data of connections is kept here until they close. */
struct client {
  sqlite3 *connection;
  const char *name;
  void *data;
  destructor destroy;
  struct client *next;
};
static struct client *clients;

static sqlite3_mutex *clients_mutex(void) { return host->mutex_alloc(SQLITE_MUTEX_STATIC_APP1); }

/* Takes the first client of a connection, with this name, or with any. */
static struct client *take_client(sqlite3 *a, const char *name) {
  sqlite3_mutex *mutex = clients_mutex();
  struct client **place, *found;
  host->mutex_enter(mutex);
  for (place = &clients; *place; place = &(*place)->next) {
    if ((*place)->connection == a && (name == NULL || strcmp((*place)->name, name) == 0)) break;
  }
  found = *place;
  if (found) *place = found->next;
  host->mutex_leave(mutex);
  return found;
}

void *sqlite3_get_clientdata(sqlite3 *a, const char *name) {
  struct client *each;
  void *data = NULL;
  sqlite3_mutex *mutex;
  if (host->libversion_number() >= 3044000) {
    return host->get_clientdata(a, name);
  }
  mutex = clients_mutex();
  host->mutex_enter(mutex);
  for (each = clients; each; each = each->next) {
    if (each->connection == a && strcmp(each->name, name) == 0) data = each->data;
  }
  host->mutex_leave(mutex);
  return data;
}

static void end_client(struct client *ended) {
  if (ended == NULL) return;
  if (ended->destroy) ended->destroy(ended->data);
  free(ended);
}

/* The name is a literal of rusqlite, so it is not copied. */
int sqlite3_set_clientdata(sqlite3 *a, const char *name, void *data, destructor destroy) {
  struct client *fresh;
  sqlite3_mutex *mutex;
  if (host->libversion_number() >= 3044000) {
    return host->set_clientdata(a, name, data, destroy);
  }
  end_client(take_client(a, name));
  if (data == NULL) return SQLITE_OK;
  fresh = malloc(sizeof *fresh);
  if (fresh == NULL) {
    if (destroy) destroy(data);
    return SQLITE_NOMEM;
  }
  fresh->connection = a;
  fresh->name = name;
  fresh->data = data;
  fresh->destroy = destroy;
  mutex = clients_mutex();
  host->mutex_enter(mutex);
  fresh->next = clients;
  clients = fresh;
  host->mutex_leave(mutex);
  return SQLITE_OK;
}

int sqlite3_close(sqlite3 *a) {
  struct client *ended;
  int code = host->close(a);
  if (code == SQLITE_OK) {
    while ((ended = take_client(a, NULL)) != NULL) end_client(ended);
  }
  return code;
}
