/* A host that meets Ricci late, as Python, Julia or a server with plugins does: it opens a library when the program
   runs already and another one has taken most of what the C library keeps for the thread-locals of such libraries.
     loads_late TAKES_STORAGE LIBRARY [FUNCTION]
   opens both and calls FUNCTION, an int(void) that returns 0 if all is right, here and on a second thread. LIBRARY may
   have at most 512 bytes of thread-locals. Exits with 0 if all is right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const size_t most_bytes = 512;

struct Storage {
  const char* library;
  size_t bytes;
};

static int add_storage(struct dl_phdr_info* module, size_t size, void* data) {
  struct Storage* storage = data;
  (void)size;
  if (strcmp(module->dlpi_name, storage->library) != 0) return 0;
  for (int i = 0; i < module->dlpi_phnum; ++i)
    if (module->dlpi_phdr[i].p_type == PT_TLS) storage->bytes += module->dlpi_phdr[i].p_memsz;
  return 0;
}

static void* call(void* function) {
  int (*const of_library)(void) = (int (*)(void))function;
  return of_library() == 0 ? NULL : function;
}

static int fails(const char* what) {
  fprintf(stderr, "loads_late: %s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return fails("takes the library that takes storage, another library, and a function of that one");
  if (!dlopen(argv[1], RTLD_NOW)) return fails(dlerror());
  void* const library = dlopen(argv[2], RTLD_NOW);
  if (!library) return fails(dlerror());
  struct Storage storage = {argv[2], 0};
  dl_iterate_phdr(add_storage, &storage);
  printf("%s: %zu bytes of thread-locals\n", argv[2], storage.bytes);
  if (storage.bytes > most_bytes) return fails("they should take at most 512");
  if (argc < 4) return 0;
  void* const function = dlsym(library, argv[3]);
  if (!function) return fails(dlerror());
  if (call(function)) return fails("the function found something wrong");
  pthread_t thread;
  void* wrong = function;
  if (pthread_create(&thread, NULL, call, function) != 0 || pthread_join(thread, &wrong) != 0 || wrong)
    return fails("the function found something wrong on a second thread");
  return 0;
}
