// Control flow on tensors: conditionals and loops that work under every transform. Where the examples of a vmap
// disagree, they part: each runs its own branch or its own number of steps, with the others that agree, and nothing of
// a branch not taken reaches values or gradients. Branches and bodies are ordinary functions and may use what they
// capture; what they compute leaves by the return value. Where a program is recorded (trace, custom_root), they are run
// once each and become programs, the parameters of one operation.
#pragma once

#include "ricci/control/associative_scan.h"
#include "ricci/control/cond.h"
#include "ricci/control/loops.h"
#include "ricci/control/scan.h"
