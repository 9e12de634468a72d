// export_object: a compiled function as an object file for programs in C.
#pragma once

#include <string>

#include "ricci/compile.h"

namespace ricci {

template <class F>
inline constexpr bool is_compiled = false;
template <class F>
inline constexpr bool is_compiled<Compiled<F>> = true;

/// Writes `path`.o, an object file, `path`.h, its header for C, and `path`.hpp, for C++20. The object has one function
/// in C, called as the last part of the path. It computes what f gives for arguments like these: of these trees, dtypes
/// and shapes, with these plain values. Captured tensors have the values that they have now, as constants of the
/// object. The header says what the parameters are: the arrays of the arguments, those of the results (then new values
/// of the arguments that f writes to), and a workspace of a fixed size. The function allocates nothing, throws nothing,
/// and keeps nothing between calls. It needs C's library alone, and a CBLAS where the header says so: for products of
/// large matrices. It runs on the calling thread, on processors like this one, or on those of `.target`. Results have
/// the bits of f's, but for sums of many elements, products of matrices, functions that are calls of C's library (pow,
/// erf, lgamma), and sin and cos of large angles: those may round another way.
/// NotImplementedError, with its name and a remedy, for what has no code but the library's (sort, svd, convolutions,
/// draws from a generator). ValueError where the last part is no name in C, or a file cannot be written: none is there.
///   auto step = rc::compile(rc::jacfwd(arm)); rc::export_object(step, "arm_jacobian", angles);
template <class F, class... A>
void export_object(const Compiled<F>& f, const std::string& path, const A&... args) {
  f.export_to(path, ExportOptions{}, args...);
}

/// Of a function that is not compiled there is no object.
template <class F, class... A>
  requires(!is_compiled<F>)
void export_object(const F&, const std::string&, const A&...) {
  static_assert(is_compiled<F>,
                "ricci: export_object takes a compiled function: export_object(rc::compile(f), path, x)");
}

/// The same for any number of examples along axis 0 of the arguments that `.open` names, and of every result:
/// `int arm_jacobian(int64_t s0, const float *argument_0 /* f32[s0,7] */, …)`. f is a function of all examples, such as
/// vmap makes; the arguments given here show shapes and dtypes, with any number of examples. The object goes through
/// the examples in blocks, so the workspace serves any number of them. Results have the bits of f's, as above.
/// ValueError where f decides by the number of examples or reads it, where a result has no examples in front, where
/// `.open` names another axis than 0, or arguments of different numbers of examples. NotImplementedError, with the
/// operation's name, where examples may know of each other, as in a mean over them.
///   rc::export_object(rc::compile(rc::vmap(rc::jacfwd(arm))), "arm_jacobian", {.open = 0}, angles);  // [examples, 7]
/// `.target` is another processor than this one: "x86-64-v2", "x86-64-v3" (AVX2), "x86-64-v4" (AVX-512) or "aarch64",
/// each under Linux. The object has no instruction that these lack. Results may round another way than f's, by as much
/// as the C library's functions that it calls. ValueError for another name; NotImplementedError for float16 on
/// x86-64-v2, which has no instructions for it.
///   rc::export_object(step, "arm_jacobian", {.target = "aarch64"}, angles);
/// `.target = "c"` writes `path`.c and `path`.h: text in C99, to be read, for machines that there is no code for here.
/// It has loops over arrays, and needs <math.h> and <stdint.h> alone: products of matrices are loops, too. Elementary
/// functions are the C library's, and sums are added one after the other, so both round another way than f's. Errors
/// are as above, and ValueError where <math.h> has a function of this name.
///   rc::export_object(step, "arm_jacobian", {.target = "c"}, angles);
/// `.target = "ptx"` writes `path`.ptx and `path`.h: text for NVIDIA's processors since Volta. With `.open` it is a
/// kernel, whose threads compute an example each, else a function of one thread. What calls C's library in an object
/// calls NVIDIA's libdevice here, a file of CUDA's toolkit. NotImplementedError where that file is needed
/// and missing, or where an example needs more than 500,000 bytes of memory.
///   rc::export_object(steps, "arm_jacobian", {.open = 0, .target = "ptx"}, angles);
template <class F, class... A>
void export_object(const Compiled<F>& f, const std::string& path, const ExportOptions& options, const A&... args) {
  f.export_to(path, options, args...);
}

}  // namespace ricci
