// The transforms. Each takes a callable and returns a callable (vjp, jvp and linearize: values); they nest to any
// depth, in any order, on any thread. Meaning and errors: docs of each; a trailing source_location tells errors where
// the transform was asked for. The compiled side stands behind transforms/runs.h.
#pragma once

#include "ricci/transforms/grad.h"
#include "ricci/transforms/jacobian.h"
#include "ricci/transforms/jet.h"
#include "ricci/transforms/jvp.h"
#include "ricci/transforms/linearize.h"
#include "ricci/transforms/trace.h"
#include "ricci/transforms/vjp.h"
#include "ricci/transforms/vmap.h"
#include "ricci/transforms/vmap_with_index.h"
