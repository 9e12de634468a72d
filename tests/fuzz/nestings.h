// What random programs wrap around a function: transforms, control flow, functions with rules of their own, and what a
// user's program does besides, such as catching an error. Knows nothing of how programs are put together.
#pragma once

#include <string>
#include <vector>

#include "world.h"

namespace fuzz {

/// A function, and the same in Python, as python_text.h says.
struct Written {
  Function run;
  std::string python;
};

/// `around` makes of f a function that contains it; `g` is a second one, where two are needed. The dice choose options.
struct Nesting {
  const char* name;
  Written (*around)(Dice& dice, const Function& f, const Function& g);
};

/// vmap, grad, vjp, jvp, linearize, Tape, no_grad, trace.
const std::vector<Nesting>& transforms();
/// jacrev, jacfwd, hessian: they multiply the work by the size of their input.
const std::vector<Nesting>& jacobians();
/// cond, loops, scans, maps.
const std::vector<Nesting>& control_flow();
/// rc::Function, custom_vjp, custom_jvp, checkpoint, custom_root.
const std::vector<Nesting>& custom_functions();
/// A catch inside the function, another thread.
const std::vector<Nesting>& surroundings();

/// The sum of what f returns.
Function summed(const Function& f);
/// The functions and classes that nestings in Python call.
const char* nestings_in_python();

}  // namespace fuzz
