/* A library whose thread-locals take as much of what the C library keeps for those of late libraries as other libraries
   of a large program may. */
_Thread_local char taken[TAKEN] __attribute__((tls_model("initial-exec")));
char* first_taken(void) { return taken; }
