// Lists of one length or another in one piece of memory. Knows nothing of what is listed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ricci::sparse {

/// Lists one after another: list i is `of[begin[i]]` up to `of[begin[i + 1]]`.
template <class T>
struct Lists {
  std::vector<std::int64_t> begin{0};
  std::vector<T> of;

  std::int64_t count() const { return std::ssize(begin) - 1; }
  std::int64_t size(std::int64_t i) const {
    return begin[static_cast<std::size_t>(i + 1)] - begin[static_cast<std::size_t>(i)];
  }
  std::span<const T> operator[](std::int64_t i) const {
    const auto from = static_cast<std::size_t>(begin[static_cast<std::size_t>(i)]);
    return std::span(of).subspan(from, static_cast<std::size_t>(size(i)));
  }
  void end_list() { begin.push_back(std::ssize(of)); }
};

using Nodes = std::vector<std::int32_t>;
inline constexpr std::int32_t no_node = -1;

/// The neighbours of each node of a graph, in both directions, without the node itself.
using Graph = Lists<std::int32_t>;

}  // namespace ricci::sparse
