// Laws of threads: every operation gives the same bits, and the same errors, for any number of threads, however finely
// its work is cut: for a case alone, for many examples of it, and for its derivatives.
#include "support/threads.h"

#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

#include "law.h"
#include "ricci/primitive/parallel.h"

namespace {

using laws::Case;
using laws::Function;
using laws::List;
using laws::Mapped;
using laws::Smooth;
using ricci::Tensor;

class Threads : public laws::Law {};

template <class T>
void append_bytes(std::vector<unsigned char>& bytes, const std::vector<T>& elements) {
  const auto* data = reinterpret_cast<const unsigned char*>(elements.data());
  bytes.insert(bytes.end(), data, data + elements.size() * sizeof(T));
}

/// One NaN for all: arithmetic leaves its sign to the order of operands in an instruction.
double plain(double x) { return x == x ? x : std::numeric_limits<double>::quiet_NaN(); }

/// The elements, bit by bit.
std::vector<unsigned char> bytes_of(const List& tensors) {
  std::vector<unsigned char> bytes;
  for (const Tensor& t : tensors) {
    if (ricci::is_integral(t.dtype())) {
      append_bytes(bytes, t.to_vector<std::int64_t>());
      continue;
    }
    std::vector<std::complex<double>> elements = t.to_vector<std::complex<double>>();
    for (std::complex<double>& x : elements) x = {plain(x.real()), plain(x.imag())};
    append_bytes(bytes, elements);
  }
  return bytes;
}

/// What a function gives with so many threads: bytes, or the text of an error.
struct Outcome {
  std::vector<unsigned char> bytes;
  std::string error;

  Outcome(const Function& f, const List& x) {
    ricci::manual_seed(3);
    try {
      bytes = bytes_of(f(x));
    } catch (const std::exception& e) { error = e.what(); }
  }
  bool operator==(const Outcome&) const = default;
};

void expect_same_bits(const Function& f, const List& x, const std::string& what) {
  EXPECT_EQ(Outcome(f, x).error, "") << what;
  const auto outcome = [&] {
    std::optional<ricci::kernels::CutEverything> cut;
    if (ricci::kernels::thread_count() > 1) cut.emplace();
    return Outcome(f, x);
  };
  testing_support::expect_same_with_any_threads(outcome, what);
}

/// As many examples as fill several vectors and a part of one.
List many(const List& x) {
  constexpr std::int64_t examples = 67;
  List all;
  for (const Tensor& one : x) {
    std::vector<Tensor> rows;
    for (std::int64_t k = 0; k < examples; ++k)
      rows.push_back(ricci::is_differentiable(one.dtype()) ? one * (1 - 0.001 * static_cast<double>(k)) : one);
    all.push_back(stack(rows, 0));
  }
  return all;
}

TEST_P(Threads, GiveTheSameBits) {
  for (const Case& c : laws::cases_of(rules())) {
    expect_same_bits(c, c.inputs, c.text());
    count_case();
  }
}

TEST_P(Threads, GiveTheSameBitsForManyExamples) {
  for (const Case& c : laws::cases_of(rules())) {
    if (c.inputs.empty()) continue;
    const Function each = [&](const List& x) { return laws::mapped(c, x, Mapped(x.size(), 0)); };
    expect_same_bits(each, many(c.inputs), "vmap of " + c.text());
    if (!ricci::is_floating(c.inputs[0].dtype())) {
      count_case();
      continue;
    }
    const Case single = laws::converted(c, ricci::DType::float32);
    const Function each_single = [&](const List& x) { return laws::mapped(single, x, Mapped(x.size(), 0)); };
    expect_same_bits(each_single, many(single.inputs), "vmap of " + single.text());
    count_case();
  }
}

TEST_P(Threads, GiveTheSameBitsForDerivatives) {
  for (const Case& c : laws::cases_of(rules())) {
    const Smooth s = laws::smooth_part(c);
    if (s.empty()) continue;
    const List ct = laws::directions(s.y, 5);
    const Function pull = laws::pullback(s.f, s.x.size());
    const List x = many(laws::joined(s.x, ct));
    expect_same_bits([&](const List& all) { return laws::mapped(pull, all, Mapped(all.size(), 0)); }, x,
                     "vmap of the vjp of " + c.text());
    count_case();
  }
}

FOR_ALL_OPERATIONS(Threads);

}  // namespace
