// Where kernels find the raw strided view they read and write.
#pragma once

#include "ricci/strided.h"
