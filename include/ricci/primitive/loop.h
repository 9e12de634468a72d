// The inner loop of an elementwise operation, made from its scalar formula: packs over contiguous operands, the same
// pack code for tails and single elements, so that a value never depends on its position. Instantiated where the
// operation is defined, with that file's instruction set. Knows nothing of shapes; start with `loops_of`.
//
//   struct Hypot {                                     // default: floating types, T in, T out
//     template <class T> auto formula(T x, T y) const { return scalar::sqrt(x * x + y * y); }
//   };
//   struct Less {
//     static constexpr DTypes dtypes = DTypes::floating | DTypes::integral | DTypes::boolean;
//     using result = Boolean;                          // the formula returns Mask<T>
//     template <class T> auto formula(T x, T y) const { return scalar::less(x, y); }
//   };
//   struct Where {
//     using operands = OperandKinds<Boolean, SameAsInput, SameAsInput>;
//     template <class T> auto formula(scalar::Mask<T> mask, T x, T y) const { return scalar::select(mask, x, y); }
//   };
#pragma once

#include <utility>

#include "ricci/primitive/loop_table.h"
#include "ricci/primitive/scalar.h"

namespace ricci {
inline namespace RICCI_ISA {

/// Output bytes from which a contiguous loop writes past the caches: half a usual last-level cache, as what fits is
/// often read next.
inline constexpr std::int64_t streaming_bytes = std::int64_t{16} << 20;

/// Whether a loop over n contiguous elements of the output, each of `bytes`, should write past the caches: it is large,
/// and no input is the output.
inline bool wants_streaming(int n_in, char* const* data, std::int64_t n, std::int64_t bytes) {
  if (n * bytes < streaming_bytes) return false;
  for (int k = 1; k <= n_in; ++k) {
    if (data[k] == data[0]) return false;
  }
  return true;
}

namespace loop_detail {

// --- What the formula sees

template <class E>
struct ValueOf {
  using type = scalar::Pack<E>;
};
template <class F>
struct ValueOf<std::complex<F>> {
  using type = std::complex<F>;
};
/// T of the formula for elements of type E.
template <class E>
using Value = typename ValueOf<E>::type;

template <class Kind, class T>
struct OperandOf {
  using type = T;
};
template <class T>
struct OperandOf<Boolean, T> {
  using type = scalar::Mask<T>;
};
template <class F>
struct OperandOf<Real, std::complex<F>> {
  using type = F;
};
/// What an operand of this kind is in a formula over T.
template <class Kind, class T>
using Operand = typename OperandOf<Kind, T>::type;

// --- What the operation declares, or its defaults

template <class Op>
constexpr DTypes dtypes_of() {
  if constexpr (requires { Op::dtypes; }) return Op::dtypes;
  else return DTypes::floating;
}

template <class Op>
constexpr auto result_kind() {
  if constexpr (requires { typename Op::result; }) return typename Op::result{};
  else return SameAsInput{};
}

template <class Op>
constexpr DType any_dtype() {
  for (int i = dtype_count - 1; i >= 0; --i) {
    if (dtypes_of<Op>().has(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  return DType::float32;
}

template <class T, std::size_t>
using Repeat = T;
template <class Op, class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires(const Op& op, T x) { op.formula(Repeat<T&, I>(x)...); };
}
template <class Op, int N = 1>
constexpr int count_inputs() {
  static_assert(
      N <= max_loop_inputs,
      "ricci: formula(T...) cannot be called with 1 to 8 values of one type; if its operands are of different "
      "kinds declare them, as in `using operands = ricci::OperandKinds<ricci::Boolean, ricci::SameAsInput>`");
  if constexpr (N > max_loop_inputs) return 0;
  else if constexpr (takes<Op, Value<ElementOf<any_dtype<Op>()>>>(std::make_index_sequence<N>())) return N;
  else return count_inputs<Op, N + 1>();
}

template <std::size_t... I>
constexpr auto same_kinds(std::index_sequence<I...>) {
  return OperandKinds<Repeat<SameAsInput, I>...>{};
}
template <class Op>
constexpr auto operand_kinds() {
  if constexpr (requires { typename Op::operands; }) return typename Op::operands{};
  else if constexpr (requires { Op::arity; }) return same_kinds(std::make_index_sequence<Op::arity>());
  else return same_kinds(std::make_index_sequence<count_inputs<Op>()>());
}

// --- The loops

template <class V>
inline constexpr int bytes_in_memory = 0;
template <class E>
inline constexpr int bytes_in_memory<scalar::Pack<E>> = sizeof(scalar::lane_type<E>);
template <int Bytes>
inline constexpr int bytes_in_memory<scalar::PackMask<Bytes>> = 1;

/// One element over and over: what a stride-0 operand reads in every step.
struct alignas(64) Held {
  unsigned char bytes[64];
};

template <class V>
RICCI_ALWAYS_INLINE void hold(Held& held, const char* from) {
  if constexpr (bytes_in_memory<V> == 1) __builtin_memset(held.bytes, *from, sizeof held.bytes);
  else scalar::store(held.bytes, scalar::load(from, 1, std::type_identity<V>{}));
}

template <class Op, class T, class Out, class... In, std::size_t... K>
RICCI_ALWAYS_INLINE void pack_loop(const Op& op, char* const* data, const std::int64_t* strides, std::int64_t n,
                                   std::index_sequence<K...>) {
  char* to = data[0];
  const char* from[] = {data[K + 1]...};
  Held held[sizeof...(In)];
  if (n >= T::lanes) {
    const std::int64_t step[] = {strides[K + 1] == 0 ? 0 : T::lanes * bytes_in_memory<In>...};
    ((step[K] == 0 ? (hold<In>(held[K], from[K]), void(from[K] = reinterpret_cast<const char*>(held[K].bytes)))
                   : void()),
     ...);
    for (; n >= T::lanes; n -= T::lanes) {
      scalar::store(to, op.formula(scalar::load(from[K], std::type_identity<In>{})...));
      to += T::lanes * bytes_in_memory<Out>;
      ((from[K] += step[K]), ...);
    }
    if (n == 0) return;
  }
  const int count = static_cast<int>(n);
  scalar::store(
      to, op.formula(scalar::load(from[K], count > 1 && strides[K + 1] == 0 ? 1 : count, std::type_identity<In>{})...),
      count);
}

/// Element by element, kept so by the empty statement: vectorised, a tail could round unlike a full lane.
template <class Op, class Out, class... In, std::size_t... K>
void element_loop(const Op& op, char* const* data, const std::int64_t* strides, std::int64_t n,
                  std::index_sequence<K...>) {
  char* to = data[0];
  const char* from[] = {data[K + 1]...};
  while (true) {
    asm volatile("" ::: "memory");
    *reinterpret_cast<Out*>(to) = op.formula(*reinterpret_cast<const In*>(from[K])...);
    if (--n <= 0) return;
    to += strides[0];
    ((from[K] += strides[K + 1]), ...);
  }
}

/// The loops of one operation over elements of type E.
template <class Op, class E, class Result, class... Kinds>
struct Loops {
  using T = Value<E>;
  using Out = Operand<Result, T>;
  static constexpr int inputs = sizeof...(Kinds);
  static constexpr auto each_input = std::make_index_sequence<inputs>();
  static constexpr LoopTypes types_for(DType element) {
    return {inputs, {dtype_of_kind<Result>(element), dtype_of_kind<Kinds>(element)...}};
  }
  static constexpr LoopTypes types = types_for(dtype_of<E>);
  static constexpr std::int64_t bytes(int operand) {
    return static_cast<std::int64_t>(element_size(types.types[operand]));
  }

  static bool is_dense(const std::int64_t* strides) {
    bool dense = strides[0] == bytes(0);
    for (int k = 1; k <= inputs; ++k) dense &= (strides[k] == 0) | (strides[k] == bytes(k));
    return dense;
  }

  static void run(const void* pointer, int, char* const* data, const std::int64_t* strides, std::int64_t n) {
    using Returned = decltype(std::declval<const Op&>().formula(std::declval<Operand<Kinds, T>>()...));
    static_assert(std::is_same_v<Returned, Out>,
                  "ricci: a formula must return exactly T (write constants as T(0.5)); one that returns Mask<T> "
                  "declares `using result = ricci::Boolean`, one that returns the real type of a complex T "
                  "`using result = ricci::Real`");
    const Op& op = *static_cast<const Op*>(pointer);
    if constexpr (std::is_class_v<E>) {
      if (n > 0) element_loop<Op, Out, Operand<Kinds, T>...>(op, data, strides, n, each_input);
    } else {
      if (n > 1) {
        if (!is_dense(strides)) [[unlikely]]
          return kernels::run_staged(&run, types, types, pointer, data, strides, n);
        if (wants_streaming(inputs, data, n, bytes(0))) [[unlikely]]
          return kernels::run_streamed(&run, types, pointer, data, strides, n);
      }
      if (n > 0) pack_loop<Op, T, Out, Operand<Kinds, T>...>(op, data, strides, n, each_input);
    }
  }

  /// Half precision in memory, float in the formula.
  template <DType stored>
  static void run_half(const void* op, int, char* const* data, const std::int64_t* strides, std::int64_t n) {
    static constexpr LoopTypes stored_types = types_for(stored);
    kernels::run_staged(&run, types, stored_types, op, data, strides, n);
  }
};

template <class Op, DType dtype, class... Kinds>
constexpr void add_loop(LoopTable& table, OperandKinds<Kinds...>) {
  if constexpr (dtypes_of<Op>().has(dtype)) {
    using Result = decltype(result_kind<Op>());
    using L = Loops<Op, ElementOf<dtype>, Result, Kinds...>;
    constexpr int i = static_cast<int>(dtype);
    table.results[i] = dtype_of_kind<Result>(dtype);
    if constexpr (element_size(dtype) == 2 && is_floating(dtype)) table.loops[i] = &L::template run_half<dtype>;
    else table.loops[i] = &L::run;
  }
}

template <class Op, class... Kinds, std::size_t... D>
constexpr LoopTable make_table(OperandKinds<Kinds...> kinds, std::index_sequence<D...>) {
  LoopTable table;
  table.inputs = sizeof...(Kinds);
  int i = 0;
  ((table.conditions |= std::is_same_v<Kinds, Boolean> ? 1U << i : 0U, ++i), ...);
  (add_loop<Op, static_cast<DType>(D)>(table, kinds), ...);
  return table;
}

}  // namespace loop_detail

/// The loops of an operation for every element type it declares in `dtypes` (default: DTypes::floating).
template <class Op>
constexpr LoopTable loops_of() {
  return loop_detail::make_table<Op>(loop_detail::operand_kinds<Op>(), std::make_index_sequence<dtype_count>());
}

}  // namespace RICCI_ISA
}  // namespace ricci
