// expect: ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable lambda),
#include <ricci/ricci.h>

void misuse() { ricci::vmap(ricci::softmax)(ricci::ones({3, 3})); }
