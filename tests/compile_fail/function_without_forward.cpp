// expect: ricci: a malformed rc::Function: it has no `static … forward(…)`
#include <ricci/ricci.h>

struct Empty : ricci::Function<Empty> {};

void misuse() { Empty::apply(ricci::ones({3})); }
