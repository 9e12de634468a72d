// expect: ricci: export_object takes a compiled function: export_object(rc::compile(f), path, x)
#include <ricci/ricci.h>

void misuse() {
  ricci::export_object([](ricci::Tensor a) { return a; }, "path", ricci::ones({3}));
}
