// ducc0's Fourier transforms (third_party/ducc0) in a namespace of this library: a program may have another version of
// them. Their threads are switched off.
#pragma once

#define DUCC0_NAMESPACE ricci::ducc0
#define DUCC0_NO_LOWLEVEL_THREADING
#include <ducc0/fft/fft1d_impl.h>
