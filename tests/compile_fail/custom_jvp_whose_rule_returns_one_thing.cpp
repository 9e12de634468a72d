// expect: ricci: custom_jvp: the rule must return two things, std::pair{output, tangent}
#include <ricci/ricci.h>

using ricci::Tensor;

void misuse() {
  ricci::custom_jvp([](Tensor x) { return x; },
                    [](std::tuple<Tensor>, std::tuple<Tensor> t) { return std::get<0>(t); })(ricci::ones({3}));
}
