// expect: ricci: jvp needs a primal to differentiate along
#include <ricci/ricci.h>

#include <tuple>

void misuse() {
  ricci::jvp([] { return ricci::ones({3}); }, std::tuple<>(), std::tuple<>());
}
