// expect: ricci: this callable cannot be called with these arguments: it must be callable as const (no mutable lambda), take as many arguments, and have one overload that fits; else pass a lambda that calls it
#include <ricci/ricci.h>

void misuse() {
  int calls = 0;
  ricci::grad([calls](ricci::Tensor x) mutable { return x * ++calls; })(ricci::ones({}));
}
