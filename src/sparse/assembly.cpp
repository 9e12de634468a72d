// Stretches of nonzeros that repeat, row after row, and what is left between them.
#include "sparse/assembly.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "primitive/interpreter.h"
#include "ricci/ops.h"
#include "tensor/at.h"

namespace ricci::sparse {
namespace {

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number); }

/// Nonzeros [begin, begin + period * count): those of `period` columns, row by row. With period 0 they are in no order.
struct Stretch {
  std::int64_t begin, period, count;
  std::int64_t end() const { return begin + std::max<std::int64_t>(period, 1) * count; }
};

/// How many nonzeros from `begin` on repeat: each is what one `period` before was, so many elements further on.
std::int64_t repeated(std::span<const Source> sources, std::int64_t begin, std::int64_t period) {
  const auto step = [&](std::int64_t k) { return sources[at(k)].element - sources[at(k - period)].element; };
  std::int64_t k = begin + period;
  for (; k < std::ssize(sources); ++k) {
    const Source &now = sources[at(k)], &before = sources[at(k - period)];
    if (now.vector != before.vector) break;
    if (is_number(now) ? bits(now.number) != bits(before.number) : step(k) < 0) break;
    if (!is_number(now) && k >= begin + 2 * period && step(k) != step(k - period)) break;
  }
  return (k - begin) / period * period;
}

/// Stretches that repeat, each a good part of all nonzeros, and what is between them.
std::vector<Stretch> stretches_of(const Sparsity& sparsity, std::span<const Source> sources) {
  constexpr std::int64_t most_rows = 8, most_columns = 64, most_stretches = 16;
  const std::int64_t count = std::ssize(sources);
  std::vector<Stretch> found;
  std::int64_t end = 0;  // of what is found
  const auto close = [&](std::int64_t k) {
    if (k > end) found.push_back({end, 0, k - end});
    end = k;
  };
  for (std::int64_t row = 0; row < sparsity.rows();) {
    const std::int64_t begin = sparsity.crow()[at(row)];
    Stretch best{begin, 1, begin < count ? repeated(sources, begin, 1) : 0};
    for (std::int64_t rows = 1; rows <= most_rows && row + rows <= sparsity.rows(); ++rows) {
      const std::int64_t period = sparsity.crow()[at(row + rows)] - begin;
      if (period == 0 || period > most_columns) continue;
      const std::int64_t length = repeated(sources, begin, period);
      if (length > best.end() - begin) best = {begin, period, length / period};
    }
    const std::int64_t length = best.end() - begin;
    if (begin >= end && length * most_stretches >= count && best.count > 1) {
      close(begin);
      found.push_back(best);
      end = best.end();
    }
    // A shorter stretch is not looked for in one that is too short.
    do ++row;
    while (row < sparsity.rows() && sparsity.crow()[at(row)] < begin + length);
  }
  close(count);
  return found;
}

Tensor numbers_in(DType dtype, const std::vector<double>& numbers) {
  const AtLevel outside(nullptr);
  return to(tensor(numbers), dtype);
}

Tensor number_in(DType dtype, double number) {
  const AtLevel outside(nullptr);
  return to(tensor(number, float64), dtype);
}

Tensor joined(const std::vector<Tensor>& parts) { return parts.size() == 1 ? parts[0] : cat(parts, 0); }

/// The columns of a stretch that repeats, made rows.
Tensor rows_of(const Stretch& stretch, const std::vector<Tensor>& vectors, std::span<const Source> sources,
               DType dtype) {
  std::vector<Tensor> columns;
  for (std::int64_t p = 0; p < stretch.period; ++p) {
    const Source &first = sources[at(stretch.begin + p)], &second = sources[at(stretch.begin + p + stretch.period)];
    const std::int64_t step = second.element - first.element;
    if (is_number(first)) {
      columns.push_back(expand(number_in(dtype, first.number), {stretch.count}));
    } else if (const Tensor& of = vectors[at(first.vector)]; step == 0) {
      columns.push_back(expand(select(of, 0, first.element), {stretch.count}));
    } else if (stretch.count == of.numel()) {
      columns.push_back(of);
    } else {
      columns.push_back(slice(of, 0, first.element, first.element + (stretch.count - 1) * step + 1, step));
    }
  }
  return columns.size() == 1 ? columns[0] : flatten(stack(columns, 1));
}

/// All nonzeros as one stretch that repeats from the first row to the last, and then those written that are others: the
/// first and last rows of a band. None where these do not stand in the stretch too.
std::optional<Tensor> as_one_stretch(const std::vector<Stretch>& stretches, const std::vector<Tensor>& vectors,
                                     const std::vector<Source>& sources, DType dtype) {
  const Stretch longest = *std::ranges::max_element(
      stretches, {}, [](const Stretch& s) { return s.period > 0 ? s.end() - s.begin : std::int64_t{0}; });
  const std::int64_t period = longest.period, size = std::ssize(sources);
  if (period == 0 || size % period != 0 || longest.begin % period != 0) return std::nullopt;
  const std::int64_t count = size / period, first = longest.begin / period;
  std::vector<Source> all = sources;
  std::map<std::int32_t, std::int64_t> column_of;
  std::map<std::uint64_t, std::int64_t> column_of_number;
  for (std::int64_t p = 0; p < period; ++p) {
    const Source& of = sources[at(longest.begin + p)];
    if (is_number(of)) column_of_number.emplace(bits(of.number), p);
    else column_of.emplace(of.vector, p);
    if (!is_number(of) && (of.element != first || vectors[at(of.vector)].numel() != count ||
                           sources[at(longest.begin + p + period)].element != first + 1))
      return std::nullopt;
    for (std::int64_t k = 0; k < count; ++k)
      all[at(k * period + p)] = is_number(of) ? of : Source{.vector = of.vector, .element = k};
  }
  std::vector<std::int64_t> places, from;
  for (std::int64_t k = 0; k < size; ++k) {
    const Source &of = sources[at(k)], &here = all[at(k)];
    if (of.vector == here.vector && (is_number(of) ? bits(of.number) == bits(here.number) : of.element == here.element))
      continue;
    places.push_back(k);
    if (is_number(of)) {
      const auto column = column_of_number.find(bits(of.number));
      if (column == column_of_number.end()) return std::nullopt;
      from.push_back(column->second);
    } else {
      const auto column = column_of.find(of.vector);
      if (column == column_of.end()) return std::nullopt;
      from.push_back(of.element * period + column->second);
    }
  }
  const Tensor values = rows_of({0, period, count}, vectors, all, dtype);
  return places.empty() ? values : index_put(values, {tensor(places)}, index_select(values, 0, tensor(from)));
}

/// Nonzeros in no order, out of the parts of vectors that they stand in.
Tensor read_of(const std::vector<Tensor>& vectors, std::span<const Source> sources, DType dtype) {
  struct Part {
    std::int64_t begin = INT64_MAX, end = 0, place = 0;
  };
  std::vector<Part> parts(vectors.size());
  std::map<std::uint64_t, std::int64_t> number_at;
  std::vector<double> numbers;
  for (const Source& of : sources) {
    if (is_number(of)) {
      if (number_at.emplace(bits(of.number), std::ssize(numbers)).second) numbers.push_back(of.number);
      continue;
    }
    Part& part = parts[at(of.vector)];
    part.begin = std::min(part.begin, of.element);
    part.end = std::max(part.end, of.element + 1);
  }
  std::vector<Tensor> all;
  std::int64_t size = 0;
  for (std::size_t v = 0; v < parts.size(); ++v) {
    Part& part = parts[v];
    if (part.end == 0) continue;
    part.place = size - part.begin;
    size += part.end - part.begin;
    all.push_back(part.end - part.begin == vectors[v].numel() ? vectors[v]
                                                              : slice(vectors[v], 0, part.begin, part.end));
  }
  if (!numbers.empty()) all.push_back(numbers_in(dtype, numbers));
  std::vector<std::int64_t> places;
  for (const Source& of : sources)
    places.push_back(is_number(of) ? size + number_at[bits(of.number)] : parts[at(of.vector)].place + of.element);
  return index_select(joined(all), 0, tensor(places));
}

/// Numbers, and elements of vectors that are written between them.
Tensor written_of(const std::vector<Tensor>& vectors, std::span<const Source> sources, DType dtype) {
  std::vector<double> numbers;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> written(vectors.size());  // element, place
  for (std::size_t k = 0; k < sources.size(); ++k) {
    numbers.push_back(sources[k].number);
    if (!is_number(sources[k]))
      written[at(sources[k].vector)].emplace_back(sources[k].element, static_cast<std::int64_t>(k));
  }
  std::vector<Tensor> all;
  std::vector<std::int64_t> places;
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    if (written[v].empty()) continue;
    std::ranges::sort(written[v]);
    std::vector<std::int64_t> elements;
    for (const auto& [element, place] : written[v]) elements.push_back(element), places.push_back(place);
    std::vector<std::int64_t> whole(at(vectors[v].numel()));
    std::iota(whole.begin(), whole.end(), 0);
    all.push_back(elements == whole ? vectors[v] : index_select(vectors[v], 0, tensor(elements)));
  }
  const Tensor values = numbers_in(dtype, numbers);
  return all.empty() ? values : index_put(values, {tensor(places)}, joined(all));
}

}  // namespace

Tensor assembled(const Sparsity& sparsity, const std::vector<Tensor>& vectors, const std::vector<Source>& sources,
                 DType dtype) {
  const std::vector<Stretch> stretches = stretches_of(sparsity, sources);
  std::int64_t in_order = 0;
  for (const Stretch& s : stretches) in_order += s.period > 0 ? s.period * s.count : 0;
  if (4 * in_order <= 3 * std::ssize(sources)) {
    const auto numbers = std::ranges::count_if(sources, is_number);
    return 2 * numbers >= std::ssize(sources) ? written_of(vectors, sources, dtype) : read_of(vectors, sources, dtype);
  }
  if (auto values = as_one_stretch(stretches, vectors, sources, dtype)) return std::move(*values);
  std::vector<Tensor> parts;
  for (const Stretch& s : stretches) {
    const std::span own = std::span(sources).subspan(at(s.begin), at(s.end() - s.begin));
    parts.push_back(s.period > 0 ? rows_of(s, vectors, sources, dtype) : read_of(vectors, own, dtype));
  }
  return joined(parts);
}

}  // namespace ricci::sparse
