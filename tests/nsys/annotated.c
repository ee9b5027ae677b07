/* A program with NVTX ranges: `annotated STEPS WRITES` opens STEPS ranges "step", each with two
 * ranges "inner", and then writes WRITES bytes one by one. WRITES controls the size of the report.
 *
 * It needs no NVTX headers: it gets the few functions that it uses through InitializeInjectionNvtx2,
 * which every profiler's injection library exports.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { CORE = 1, MODULES = 7, CALLBACKS = 1, VERSION_INFO = 3, RANGE_PUSH = 9, RANGE_POP = 11, SLOTS = 16 };

typedef void (*Function)(void);

/* Filled in by the profiler: one function per module and entry number. */
static Function functions[MODULES][SLOTS];
static Function *slots[MODULES][SLOTS + 1];

static int module_functions(int module, Function ***table, unsigned *size) {
    if (module < CORE || module >= MODULES) return 0;
    for (int i = 0; i < SLOTS; i++) slots[module][i] = &functions[module][i];
    *table = slots[module];
    if (size) *size = SLOTS;
    return 1;
}

static void set_version(uint32_t version) { (void)version; }

static const struct {
    size_t size;
    int (*module_functions)(int, Function ***, unsigned *);
} callbacks = {sizeof callbacks, module_functions};

static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t);
} version_info = {sizeof version_info, 3, 0, set_version};

static const void *export_table(uint32_t id) {
    return id == CALLBACKS ? (const void *)&callbacks : id == VERSION_INFO ? (const void *)&version_info : NULL;
}

static void push(const char *name) {
    if (functions[CORE][RANGE_PUSH]) ((int (*)(const char *))functions[CORE][RANGE_PUSH])(name);
}

static void pop(void) {
    if (functions[CORE][RANGE_POP]) ((int (*)(void))functions[CORE][RANGE_POP])();
}

int main(int count, char **arguments) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    typedef int (*Initialize)(const void *(*)(uint32_t));
    Initialize initialize = library ? (Initialize)dlsym(library, "InitializeInjectionNvtx2") : NULL;
    if (!initialize || !initialize(export_table)) return 3;

    int steps = count > 1 ? atoi(arguments[1]) : 1, writes = count > 2 ? atoi(arguments[2]) : 0;
    for (int step = 0; step < steps; step++) {
        push("step");
        for (int inner = 0; inner < 2; inner++) {
            push("inner");
            usleep(1000);
            pop();
        }
        pop();
    }
    int nowhere = open("/dev/null", O_WRONLY);
    for (int i = 0; i < writes; i++)
        if (write(nowhere, "x", 1) != 1) return 1;
    return 0;
}
