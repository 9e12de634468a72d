// Everything: `#include <ricci/ricci.h>` and `namespace rc = ricci;`.
#pragma once

#include "ricci/control.h"
#include "ricci/custom_derivatives.h"
#include "ricci/error.h"
#include "ricci/function.h"
#include "ricci/implicit.h"
#include "ricci/io.h"
#include "ricci/keys.h"
#include "ricci/ops.h"
#include "ricci/program.h"
#include "ricci/ragged.h"
#include "ricci/random.h"
#include "ricci/tape.h"
#include "ricci/tensor.h"
#include "ricci/threads.h"
#include "ricci/transforms.h"
#include "ricci/tree.h"
