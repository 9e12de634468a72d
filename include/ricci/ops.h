// Every operation, by family. Operations are plain functions found by argument-dependent lookup; optional arguments are
// separate overloads, so that `rc::vmap(rc::diagonal)` and `rc::grad(rc::sum)` work by name.
#pragma once

#include "ricci/ops/create.h"
#include "ricci/ops/elementwise.h"
#include "ricci/ops/index.h"
#include "ricci/ops/linalg.h"
#include "ricci/ops/nn.h"
#include "ricci/ops/random.h"
#include "ricci/ops/reduce.h"
#include "ricci/ops/shape.h"
