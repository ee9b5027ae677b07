/*
** The functions of SQLite that nsq calls, each passed on to the SQLite that loaded the extension.
**
** nsq's crates are linked with a SQLite of their own. The linker takes these functions instead, because it has them first, and
** then leaves nsq's SQLite out: so one build of the crates serves both the program and the extension. If nsq comes to call a
** function that is missing here, linking fails with "multiple definition".
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

#define TAKE(result, name, parameters, arguments) \
  result sqlite3_##name parameters { return host->name arguments; }
#define GIVE(name, parameters, arguments) \
  void sqlite3_##name parameters { host->name arguments; }

TAKE(void *, aggregate_context, (sqlite3_context *a, int b), (a, b))
TAKE(int, bind_blob64, (sqlite3_stmt *a, int b, const void *c, sqlite3_uint64 d, destructor e), (a, b, c, d, e))
TAKE(int, bind_double, (sqlite3_stmt *a, int b, double c), (a, b, c))
TAKE(int, bind_int64, (sqlite3_stmt *a, int b, sqlite3_int64 c), (a, b, c))
TAKE(int, bind_null, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, bind_parameter_count, (sqlite3_stmt *a), (a))
TAKE(int, bind_parameter_index, (sqlite3_stmt *a, const char *b), (a, b))
TAKE(const char *, bind_parameter_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, bind_text64, (sqlite3_stmt *a, int b, const char *c, sqlite3_uint64 d, destructor e, unsigned char f), (a, b, c, d, e, f))
TAKE(int, bind_zeroblob64, (sqlite3_stmt *a, int b, sqlite3_uint64 c), (a, b, c))
TAKE(int, busy_timeout, (sqlite3 *a, int b), (a, b))
TAKE(sqlite3_int64, changes64, (sqlite3 *a), (a))
TAKE(int, clear_bindings, (sqlite3_stmt *a), (a))
TAKE(const void *, column_blob, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_bytes, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_count, (sqlite3_stmt *a), (a))
TAKE(double, column_double, (sqlite3_stmt *a, int b), (a, b))
TAKE(sqlite3_int64, column_int64, (sqlite3_stmt *a, int b), (a, b))
TAKE(const char *, column_name, (sqlite3_stmt *a, int b), (a, b))
TAKE(const unsigned char *, column_text, (sqlite3_stmt *a, int b), (a, b))
TAKE(int, column_type, (sqlite3_stmt *a, int b), (a, b))
TAKE(sqlite3 *, context_db_handle, (sqlite3_context *a), (a))
TAKE(int, create_function_v2, (sqlite3 *a, const char *b, int c, int d, void *e, per_row f, per_row g, at_end h, destructor i), (a, b, c, d, e, f, g, h, i))
TAKE(int, create_module_v2, (sqlite3 *a, const char *b, const sqlite3_module *c, void *d, destructor e), (a, b, c, d, e))
TAKE(int, db_cacheflush, (sqlite3 *a), (a))
TAKE(const char *, db_filename, (sqlite3 *a, const char *b), (a, b))
TAKE(const char *, db_name, (sqlite3 *a, int b), (a, b))
TAKE(int, declare_vtab, (sqlite3 *a, const char *b), (a, b))
TAKE(int, errcode, (sqlite3 *a), (a))
TAKE(const char *, errmsg, (sqlite3 *a), (a))
TAKE(int, error_offset, (sqlite3 *a), (a))
TAKE(const char *, errstr, (int a), (a))
TAKE(char *, expanded_sql, (sqlite3_stmt *a), (a))
TAKE(int, extended_result_codes, (sqlite3 *a, int b), (a, b))
TAKE(int, finalize, (sqlite3_stmt *a), (a))
GIVE(free, (void *a), (a))
TAKE(int, get_autocommit, (sqlite3 *a), (a))
TAKE(int, keyword_check, (const char *a, int b), (a, b))
TAKE(const char *, libversion, (void), ())
TAKE(int, libversion_number, (void), ())
TAKE(int, limit, (sqlite3 *a, int b, int c), (a, b, c))
TAKE(void *, malloc64, (sqlite3_uint64 a), (a))
TAKE(sqlite3_mutex *, mutex_alloc, (int a), (a))
GIVE(mutex_free, (sqlite3_mutex *a), (a))
TAKE(sqlite3_stmt *, next_stmt, (sqlite3 *a, sqlite3_stmt *b), (a, b))
TAKE(int, open_v2, (const char *a, sqlite3 **b, int c, const char *d), (a, b, c, d))
TAKE(int, prepare_v2, (sqlite3 *a, const char *b, int c, sqlite3_stmt **d, const char **e), (a, b, c, d, e))
TAKE(int, prepare_v3, (sqlite3 *a, const char *b, int c, unsigned int d, sqlite3_stmt **e, const char **f), (a, b, c, d, e, f))
GIVE(progress_handler, (sqlite3 *a, int b, progress c, void *d), (a, b, c, d))
TAKE(int, reset, (sqlite3_stmt *a), (a))
GIVE(result_blob64, (sqlite3_context *a, const void *b, sqlite3_uint64 c, destructor d), (a, b, c, d))
GIVE(result_double, (sqlite3_context *a, double b), (a, b))
GIVE(result_error, (sqlite3_context *a, const char *b, int c), (a, b, c))
GIVE(result_error_code, (sqlite3_context *a, int b), (a, b))
GIVE(result_error_nomem, (sqlite3_context *a), (a))
GIVE(result_error_toobig, (sqlite3_context *a), (a))
GIVE(result_int64, (sqlite3_context *a, sqlite3_int64 b), (a, b))
GIVE(result_null, (sqlite3_context *a), (a))
GIVE(result_text64, (sqlite3_context *a, const char *b, sqlite3_uint64 c, destructor d, unsigned char e), (a, b, c, d, e))
GIVE(result_value, (sqlite3_context *a, sqlite3_value *b), (a, b))
TAKE(int, result_zeroblob64, (sqlite3_context *a, sqlite3_uint64 b), (a, b))
TAKE(int, set_authorizer, (sqlite3 *a, authorizer b, void *c), (a, b, c))
TAKE(const char *, sql, (sqlite3_stmt *a), (a))
TAKE(int, step, (sqlite3_stmt *a), (a))
TAKE(int, stmt_busy, (sqlite3_stmt *a), (a))
TAKE(void *, user_data, (sqlite3_context *a), (a))
TAKE(const void *, value_blob, (sqlite3_value *a), (a))
TAKE(int, value_bytes, (sqlite3_value *a), (a))
TAKE(double, value_double, (sqlite3_value *a), (a))
TAKE(sqlite3_int64, value_int64, (sqlite3_value *a), (a))
TAKE(unsigned int, value_subtype, (sqlite3_value *a), (a))
TAKE(const unsigned char *, value_text, (sqlite3_value *a), (a))
TAKE(int, value_type, (sqlite3_value *a), (a))
TAKE(const char *, vtab_collation, (sqlite3_index_info *a, int b), (a, b))
TAKE(int, vtab_distinct, (sqlite3_index_info *a), (a))
TAKE(int, vtab_in, (sqlite3_index_info *a, int b, int c), (a, b, c))
TAKE(int, vtab_in_first, (sqlite3_value *a, sqlite3_value **b), (a, b))
TAKE(int, vtab_in_next, (sqlite3_value *a, sqlite3_value **b), (a, b))
TAKE(int, vtab_on_conflict, (sqlite3 *a), (a))
TAKE(int, vtab_rhs_value, (sqlite3_index_info *a, int b, sqlite3_value **c), (a, b, c))
TAKE(int, wal_checkpoint_v2, (sqlite3 *a, const char *b, int c, int *d, int *e), (a, b, c, d, e))

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

/* On older versions: whether the connection was interrupted while a statement runs. Any further statement then ends at once. */
int sqlite3_is_interrupted(sqlite3 *a) {
  if (host->libversion_number() >= 3041000) {
    return host->is_interrupted(a);
  }
  return host->exec(a, "SELECT 1", NULL, NULL, NULL) == SQLITE_INTERRUPT;
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
