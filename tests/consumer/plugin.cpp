// A module of a host that is written in C (loads_late.c): transforms, random numbers, products, a sum that several
// threads share, a convolution, and an error that names the user's line, behind one C function. Linked with the shared
// Ricci or the static one.
#include <ricci/ricci.h>

#include <cmath>
#include <string>

namespace rc = ricci;
using rc::Tensor;

extern "C" int use_ricci() try {
  const Tensor x = rc::randn({64, 8}), w = rc::randn({8, 8});
  const auto loss = [](Tensor w, Tensor x) { return rc::tanh(rc::matmul(w, x)).sum(); };
  const Tensor each = rc::vmap(rc::grad(loss), {.in_dims = {rc::none, 0}})(w, x);
  if (!rc::allclose(each.sum(0), rc::grad([&](Tensor w) { return rc::tanh(rc::matmul(x, w.t())).sum(); })(w), 1e-4,
                    1e-4))
    return 1;
  const Tensor many = rc::ones({1 << 20});
  if ((many + many).sum().item<double>() != 2 << 20) return 2;
  const Tensor image = rc::ones({1, 1, 8, 8}), kernel = rc::ones({1, 1, 3, 3});
  if (rc::conv2d(image, kernel).sum().item<double>() != 36 * 9) return 3;
  try {
    rc::matmul(w, rc::ones({5, 5}));
  } catch (const rc::ValueError& error) { return std::string(error.what()).find("plugin.cpp") == std::string::npos; }
  return 4;
} catch (...) { return 5; }
