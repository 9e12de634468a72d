// Ragged values: every operation is a gather, an index_add or a plain operation on the values; only offsets are read.
#include "ricci/ragged.h"

#include <algorithm>

#include "ops/axes.h"
#include "primitive/called.h"
#include "ricci/ops.h"
#include "ricci/primitive/raise.h"

namespace ricci {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers read_offsets(const Ragged& r) { return r.offsets.to_vector<std::int64_t>(); }

std::int64_t longest(const Numbers& offsets) {
  std::int64_t most = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) most = std::max(most, offsets[i] - offsets[i - 1]);
  return most;
}

Numbers offsets_of(const Numbers& lengths) {
  Numbers offsets{0};
  for (std::int64_t n : lengths) offsets.push_back(offsets.back() + n);
  return offsets;
}

/// The rows of the parts that `order` names as {part, row}; `lengths` are those of the result.
Ragged gathered(const std::vector<Ragged>& parts, const std::vector<std::pair<std::size_t, std::size_t>>& order,
                const Numbers& lengths) {
  std::vector<Tensor> all;
  std::vector<Numbers> offsets;
  Numbers start{0};
  for (const Ragged& part : parts) {
    all.push_back(part.values);
    offsets.push_back(read_offsets(part));
    start.push_back(start.back() + offsets.back().back());
  }
  Numbers rows;
  for (const auto& [part, row] : order)
    for (std::int64_t i = offsets[part][row]; i < offsets[part][row + 1]; ++i) rows.push_back(start[part] + i);
  return {index_select(cat(all, 0), 0, tensor(rows)), tensor(offsets_of(lengths))};
}

void require_parts(const char* op, const std::vector<Ragged>& parts) {
  if (parts.empty()) raise<ValueError>(std::string(op) + ": there is no Ragged to join; the vector is empty");
}

void require_no_empty_row(const char* op, const Numbers& offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] == offsets[i - 1])
      raise<ValueError>(std::string(op) + ": row " + std::to_string(i - 1) + " of the Ragged is empty");
}

const Ragged& require_equal_rows(const Ragged& a, const Ragged& b) {
  if (read_offsets(a) != read_offsets(b))
    raise<ValueError>("Ragged: rows differ in length: " + std::to_string(a.rows()) + " rows of " + type_text(a.values) +
                      ", " + std::to_string(b.rows()) + " rows of " + type_text(b.values));
  return b;
}

/// [rows, longest, …]: shorter rows are filled up with their own last value, which changes no extreme.
Tensor lengthened(const char* op, const Ragged& r) {
  const Numbers offsets = read_offsets(r);
  require_no_empty_row(op, offsets);
  const std::int64_t most = std::max<std::int64_t>(longest(offsets), 1);  // also where there are no rows
  Numbers place;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    for (std::int64_t k = 0; k < most; ++k) place.push_back(std::min(offsets[i - 1] + k, offsets[i] - 1));
  Shape shape = r.values.shape();
  shape[0] = most;
  shape.insert(0, r.rows());
  return reshape(index_select(r.values, 0, tensor(place)), shape);
}

}  // namespace

std::int64_t Ragged::rows() const { return offsets.size(0) - 1; }
Tensor Ragged::lengths() const { return sub(slice(offsets, 0, 1, std::nullopt), slice(offsets, 0, 0, rows())); }

Tensor Ragged::operator[](std::int64_t row) const {
  const std::int64_t count = rows();
  if (row < -count || row >= count)
    raise<IndexError>("Ragged: row " + std::to_string(row) + " is out of range: there are " +
                      count_of(count, "row", "rows"));
  const Numbers at = read_offsets(*this);
  const auto i = static_cast<std::size_t>(row < 0 ? row + count : row);
  return narrow(values, 0, at[i], at[i + 1] - at[i]);
}

Tensor Ragged::row_numbers() const {
  const Numbers at = read_offsets(*this);
  Numbers numbers;
  for (std::size_t i = 1; i < at.size(); ++i)
    numbers.insert(numbers.end(), static_cast<std::size_t>(at[i] - at[i - 1]), static_cast<std::int64_t>(i - 1));
  return tensor(numbers);
}

Tensor Ragged::sum() const {
  Shape shape = values.shape();
  shape[0] = rows();
  return index_add(zeros(shape, TensorOptions{.dtype = values.dtype()}), 0, row_numbers(), values);
}

Tensor Ragged::mean() const {
  Shape shape = Shape::filled(static_cast<std::size_t>(values.dim()), 1);
  shape[0] = rows();
  return div(sum(), reshape(lengths(), shape));
}

Tensor Ragged::max() const { return ops::max(lengthened("max", *this), 1).first; }
Tensor Ragged::min() const { return ops::min(lengthened("min", *this), 1).first; }

Tensor Ragged::pad(const Tensor& fill) const {
  const Called as("pad", values, fill);
  const Numbers at = read_offsets(*this);
  const std::int64_t most = longest(at);
  Numbers place;  // of each entry among the values; the last one is the fill
  for (std::size_t i = 1; i < at.size(); ++i)
    for (std::int64_t k = 0; k < most; ++k) place.push_back(at[i - 1] + k < at[i] ? at[i - 1] + k : at.back());
  Shape one = values.shape(), shape = values.shape();
  one[0] = 1;
  shape[0] = most;
  shape.insert(0, rows());
  const Tensor filled = cat(std::vector{values, full(one, fill, values.dtype())}, 0);
  return reshape(index_select(filled, 0, tensor(place)), shape);
}

Ragged Ragged::with(const Tensor& other) const {
  if (other.dim() == 0 || other.size(0) != values.size(0))
    raise<ValueError>("Ragged: " + type_text(other) + " does not fit rows of " + type_text(values) +
                      "; a function of the values must keep axis 0");
  return {other, offsets};
}

Ragged unpad(const Tensor& padded, const Tensor& lengths) {
  if (padded.dim() < 2 || lengths.dim() != 1 || lengths.size(0) != padded.size(0))
    raise<ValueError>("unpad: " + type_text(padded) + " and lengths " + type_text(lengths) +
                      " do not fit; pass [rows, longest, …] and [rows]");
  const Numbers counts = lengths.to_vector<std::int64_t>();
  const std::int64_t most = padded.size(1);
  Numbers place;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (counts[row] < 0 || counts[row] > most)
      raise<ValueError>("unpad: length " + std::to_string(counts[row]) + " of row " + std::to_string(row) +
                        " is out of range; the rows of " + type_text(padded) + " have " + std::to_string(most));
    for (std::int64_t k = 0; k < counts[row]; ++k) place.push_back(static_cast<std::int64_t>(row) * most + k);
  }
  return {index_select(flatten(padded, 0, 1), 0, tensor(place)), tensor(offsets_of(counts))};
}

Ragged cat_rows(const std::vector<Ragged>& parts) {
  const Called as("cat_rows");
  require_parts("cat_rows", parts);
  Numbers lengths(static_cast<std::size_t>(parts[0].rows()));
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t row = 0; row < lengths.size(); ++row)
    for (std::size_t part = 0; part < parts.size(); ++part) order.emplace_back(part, row);
  for (const Ragged& part : parts) {
    if (part.rows() != parts[0].rows())
      raise<ValueError>("cat_rows: the Ragged differ in their number of rows: " + std::to_string(parts[0].rows()) +
                        " and " + std::to_string(part.rows()));
    const Numbers more = part.lengths().to_vector<std::int64_t>();
    for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] += more[row];
  }
  return gathered(parts, order, lengths);
}

Ragged stack_rows(const std::vector<Ragged>& parts) {
  const Called as("stack_rows");
  require_parts("stack_rows", parts);
  Numbers lengths;
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const Numbers more = parts[part].lengths().to_vector<std::int64_t>();
    for (std::size_t row = 0; row < more.size(); ++row) order.emplace_back(part, row);
    lengths.insert(lengths.end(), more.begin(), more.end());
  }
  return gathered(parts, order, lengths);
}

Ragged operator+(const Ragged& a, const Ragged& b) { return a.with(add(a.values, require_equal_rows(a, b).values)); }
Ragged operator-(const Ragged& a, const Ragged& b) { return a.with(sub(a.values, require_equal_rows(a, b).values)); }
Ragged operator*(const Ragged& a, const Ragged& b) { return a.with(mul(a.values, require_equal_rows(a, b).values)); }
Ragged operator/(const Ragged& a, const Ragged& b) { return a.with(div(a.values, require_equal_rows(a, b).values)); }
Ragged operator+(const Ragged& a, const Tensor& b) { return a.with(add(a.values, b)); }
Ragged operator-(const Ragged& a, const Tensor& b) { return a.with(sub(a.values, b)); }
Ragged operator*(const Ragged& a, const Tensor& b) { return a.with(mul(a.values, b)); }
Ragged operator/(const Ragged& a, const Tensor& b) { return a.with(div(a.values, b)); }
Ragged operator+(const Tensor& a, const Ragged& b) { return b.with(add(a, b.values)); }
Ragged operator-(const Tensor& a, const Ragged& b) { return b.with(sub(a, b.values)); }
Ragged operator*(const Tensor& a, const Ragged& b) { return b.with(mul(a, b.values)); }
Ragged operator/(const Tensor& a, const Ragged& b) { return b.with(div(a, b.values)); }

}  // namespace ricci
