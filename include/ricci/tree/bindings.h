// The table of structured bindings for 0 to 64 fields: C++20 cannot bind a pack. Knows nothing of what the fields are.
// Read reflect.h instead.
#pragma once

namespace ricci::tree {

/// What a field that cannot be referred to leaves behind.
struct BitFieldFound {};

/// `Bindings<n>::visit(object, f)` calls f with the n fields of an aggregate as lvalues.
template <int count>
struct Bindings;

template <>
struct Bindings<0> {
  template <class S, class F>
  static constexpr decltype(auto) visit(S&, F&& f) {
    return f();
  }
};

#define RICCI_BIND_FIELDS(count, ...)                         \
  template <>                                                 \
  struct Bindings<count> {                                    \
    template <class S, class F>                               \
    static constexpr decltype(auto) visit(S& object, F&& f) { \
      auto& [__VA_ARGS__] = object;                           \
      if constexpr (requires { f(__VA_ARGS__); }) {           \
        return f(__VA_ARGS__);                                \
      } else {                                                \
        return BitFieldFound{};                               \
      }                                                       \
    }                                                         \
  };

// clang-format off
RICCI_BIND_FIELDS(1, a)
RICCI_BIND_FIELDS(2, a, b)
RICCI_BIND_FIELDS(3, a, b, c)
RICCI_BIND_FIELDS(4, a, b, c, d)
RICCI_BIND_FIELDS(5, a, b, c, d, e)
RICCI_BIND_FIELDS(6, a, b, c, d, e, g)
RICCI_BIND_FIELDS(7, a, b, c, d, e, g, h)
RICCI_BIND_FIELDS(8, a, b, c, d, e, g, h, i)
RICCI_BIND_FIELDS(9, a, b, c, d, e, g, h, i, j)
RICCI_BIND_FIELDS(10, a, b, c, d, e, g, h, i, j, k)
RICCI_BIND_FIELDS(11, a, b, c, d, e, g, h, i, j, k, l)
RICCI_BIND_FIELDS(12, a, b, c, d, e, g, h, i, j, k, l, m)
RICCI_BIND_FIELDS(13, a, b, c, d, e, g, h, i, j, k, l, m, n)
RICCI_BIND_FIELDS(14, a, b, c, d, e, g, h, i, j, k, l, m, n, o)
RICCI_BIND_FIELDS(15, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p)
RICCI_BIND_FIELDS(16, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q)
RICCI_BIND_FIELDS(17, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r)
RICCI_BIND_FIELDS(18, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s)
RICCI_BIND_FIELDS(19, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
RICCI_BIND_FIELDS(20, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
RICCI_BIND_FIELDS(21, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
RICCI_BIND_FIELDS(22, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
RICCI_BIND_FIELDS(23, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
RICCI_BIND_FIELDS(24, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
RICCI_BIND_FIELDS(25, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
RICCI_BIND_FIELDS(26, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A)
RICCI_BIND_FIELDS(27, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B)
RICCI_BIND_FIELDS(28, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C)
RICCI_BIND_FIELDS(29, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)
RICCI_BIND_FIELDS(30, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)
RICCI_BIND_FIELDS(31, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G)
RICCI_BIND_FIELDS(32, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H)
RICCI_BIND_FIELDS(33, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I)
RICCI_BIND_FIELDS(34, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J)
RICCI_BIND_FIELDS(35, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K)
RICCI_BIND_FIELDS(36, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L)
RICCI_BIND_FIELDS(37, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M)
RICCI_BIND_FIELDS(38, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N)
RICCI_BIND_FIELDS(39, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O)
RICCI_BIND_FIELDS(40, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P)
RICCI_BIND_FIELDS(41, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q)
RICCI_BIND_FIELDS(42, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R)
RICCI_BIND_FIELDS(43, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T)
RICCI_BIND_FIELDS(44, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U)
RICCI_BIND_FIELDS(45, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V)
RICCI_BIND_FIELDS(46, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W)
RICCI_BIND_FIELDS(47, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X)
RICCI_BIND_FIELDS(48, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y)
RICCI_BIND_FIELDS(49, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z)
RICCI_BIND_FIELDS(50, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa)
RICCI_BIND_FIELDS(51, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab)
RICCI_BIND_FIELDS(52, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac)
RICCI_BIND_FIELDS(53, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad)
RICCI_BIND_FIELDS(54, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae)
RICCI_BIND_FIELDS(55, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af)
RICCI_BIND_FIELDS(56, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba)
RICCI_BIND_FIELDS(57, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb)
RICCI_BIND_FIELDS(58, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc)
RICCI_BIND_FIELDS(59, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd)
RICCI_BIND_FIELDS(60, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd, be)
RICCI_BIND_FIELDS(61, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd, be, bf)
RICCI_BIND_FIELDS(62, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd, be, bf, ca)
RICCI_BIND_FIELDS(63, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd, be, bf, ca, cb)
RICCI_BIND_FIELDS(64, a, b, c, d, e, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, G, H,
  I, J, K, L, M, N, O, P, Q, R, T, U, V, W, X, Y, Z, aa, ab, ac, ad, ae, af, ba, bb, bc, bd, be, bf, ca, cb, cc)
// clang-format on

#undef RICCI_BIND_FIELDS

}  // namespace ricci::tree
