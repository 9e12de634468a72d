// Minimum degree on a quotient graph: a node that was eliminated is an element, the list of its neighbours then.
// After Amestoy, Davis and Duff, "An approximate minimum degree ordering algorithm", 1996.
#include "sparse/elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tensor/at.h"

namespace ricci::sparse {
namespace {

/// Numbers that are marked until the next `begin`.
class Marks {
 public:
  explicit Marks(std::size_t size) : mark_(size, 0) {}
  void begin() { ++now_; }
  bool has(std::int32_t i) const { return mark_[at(i)] == now_; }
  bool add(std::int32_t i) { return std::exchange(mark_[at(i)], now_) != now_; }

 private:
  std::vector<std::int64_t> mark_;
  std::int64_t now_ = 0;
};

class MinimumDegree {
 public:
  MinimumDegree(const Graph& graph, const std::vector<bool>& comes_after)
      : graph_(graph),
        comes_after_(comes_after),
        size_(graph.count()),
        begin_(at(size_)),
        length_(at(size_)),
        elements_(at(size_)),
        weight_(at(size_), 1),
        degree_(at(size_)),
        waits_for_(at(size_)),
        outside_(at(size_)),
        follows_(at(size_), no_node),
        last_(at(size_)),
        next_(at(size_), no_node),
        before_(at(size_), no_node),
        of_degree_(at(size_ + 1), no_node),
        of_hash_(at(size_), no_node),
        next_of_hash_(at(size_)),
        hash_(at(size_)),
        compared_(at(size_)) {
    std::iota(last_.begin(), last_.end(), 0);
    for (std::int32_t v = 0; v < size_; ++v)
      if (comes_after[at(v)])
        for (const std::int32_t u : graph[v]) waits_for_[at(v)] += comes_after[at(u)] ? 0 : 1;
  }

  Nodes order() {
    const Nodes dense = set_dense_aside();
    lists_.reserve(graph_.of.size() * 5 / 4 + at(2 * size_));
    for (std::int32_t v = 0; v < size_; ++v) {
      if (weight_[at(v)] == 0) continue;
      begin_[at(v)] = std::ssize(lists_);
      for (const std::int32_t u : graph_[v])
        if (weight_[at(u)] > 0) lists_.push_back(u);
      length_[at(v)] = degree_[at(v)] = static_cast<std::int32_t>(std::ssize(lists_) - begin_[at(v)]);
      ++remaining_;
    }
    for (std::int32_t v = 0; v < size_; ++v)
      if (weight_[at(v)] > 0) offer(v);
    order_.reserve(at(size_));
    while (remaining_ > 0) eliminate(take_least());
    order_.insert(order_.end(), dense.begin(), dense.end());
    return std::move(order_);
  }

 private:
  /// Nodes with very many neighbours come last: each step would read all of them. Behind these come those that wait for
  /// one of them.
  Nodes set_dense_aside() {
    const double most = std::max(16., 10 * std::sqrt(static_cast<double>(size_)));
    Nodes dense, waiting;
    const auto set_aside = [&](std::int32_t v, Nodes& among) {
      if (std::exchange(weight_[at(v)], 0) != 0) among.push_back(v);
    };
    for (std::int32_t v = 0; v < size_; ++v) {
      if (static_cast<double>(graph_.size(v)) <= most) continue;
      set_aside(v, waits_for_[at(v)] > 0 ? waiting : dense);
      for_each_waiting(v, [&](std::int32_t u) { set_aside(u, waiting); });
    }
    dense.insert(dense.end(), waiting.begin(), waiting.end());
    return dense;
  }
  template <class F>
  void for_each_waiting(std::int32_t v, const F& f) const {
    if (comes_after_[at(v)]) return;
    for (const std::int32_t u : graph_[v])
      if (comes_after_[at(u)]) f(u);
  }

  // --- Variables by their degrees, but for those that wait

  void offer(std::int32_t v) {
    if (waits_for_[at(v)] > 0) return;
    std::int32_t& first = of_degree_[at(degree_[at(v)])];
    if (first != no_node) before_[at(first)] = v;
    next_[at(v)] = first, before_[at(v)] = no_node;
    first = v;
    least_ = std::min(least_, degree_[at(v)]);
  }
  void withdraw(std::int32_t v) {
    if (waits_for_[at(v)] > 0) return;
    const std::int32_t before = before_[at(v)], next = next_[at(v)];
    (before == no_node ? of_degree_[at(degree_[at(v)])] : next_[at(before)]) = next;
    if (next != no_node) before_[at(next)] = before;
  }
  std::int32_t take_least() {
    while (of_degree_[at(least_)] == no_node) ++least_;
    const std::int32_t v = of_degree_[at(least_)];
    withdraw(v);
    return v;
  }

  // --- Elimination

  /// The variable v becomes an element, whose list is the clique of v's neighbours.
  void eliminate(std::int32_t v) {
    remaining_ -= weight_[at(v)];
    gather_clique(v);
    now_ += size_ + 1;
    for_clique([&](std::int32_t u) { count_outside(u); });
    for_clique([&](std::int32_t u) { join(u, v); });
    for_clique([&](std::int32_t u) { merge_equal(u); });
    std::int64_t end = clique_;
    for_clique([&](std::int32_t u) {
      const std::int32_t weight = weight_[at(u)] = -weight_[at(u)];
      if (weight == 0) return;
      degree_[at(u)] = std::min(degree_[at(u)] + clique_weight_ - weight, remaining_ - weight);
      offer(u);
      lists_[at(end++)] = u;
    });
    lists_.resize(at(end));
    begin_[at(v)] = clique_, length_[at(v)] = static_cast<std::int32_t>(end - clique_);
    degree_[at(v)] = clique_weight_;
    outside_[at(v)] = length_[at(v)] > 0 ? 1 : 0;
    put_out(v);
  }
  template <class F>
  void for_clique(const F& f) const {
    for (std::int64_t p = clique_, end = std::ssize(lists_); p < end; ++p) f(lists_[at(p)]);
  }

  /// The neighbours of v, at the end of all lists, by themselves and through v's elements, which are absorbed. Weights
  /// are negative for those in the clique.
  void gather_clique(std::int32_t v) {
    const std::int64_t first = begin_[at(v)], variables = first + elements_[at(v)], last = first + length_[at(v)];
    std::int64_t most = length_[at(v)];
    for (std::int64_t p = first; p < variables; ++p) most += length_[at(lists_[at(p)])];
    if (lists_.size() + at(std::min(most, size_)) > lists_.capacity()) return compact(), gather_clique(v);
    weight_[at(v)] = 0;
    clique_ = std::ssize(lists_), clique_weight_ = 0;
    const auto add = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p) {
        const std::int32_t u = lists_[at(p)], weight = weight_[at(u)];
        if (weight <= 0) continue;
        clique_weight_ += weight, weight_[at(u)] = -weight;
        withdraw(u);
        lists_.push_back(u);
      }
    };
    for (std::int64_t p = first; p < variables; ++p) {
      const std::int32_t e = lists_[at(p)];
      if (outside_[at(e)] == 0) continue;
      add(begin_[at(e)], begin_[at(e)] + length_[at(e)]);
      outside_[at(e)] = 0;
    }
    add(variables, last);
  }
  /// Leaves out the lists of what is gone. What is there has no more entries than the graph, so there is room.
  void compact() {
    Nodes kept;
    kept.reserve(lists_.capacity() + at(size_));
    for (std::int32_t v = 0; v < size_; ++v) {
      if (weight_[at(v)] == 0 && outside_[at(v)] == 0) continue;
      const auto from = lists_.begin() + begin_[at(v)];
      begin_[at(v)] = std::ssize(kept);
      kept.insert(kept.end(), from, from + length_[at(v)]);
    }
    lists_ = std::move(kept);
  }

  /// Of each element beside the new clique: how many of its variables are not in it, plus `now_`.
  void count_outside(std::int32_t u) {
    for (std::int64_t p = begin_[at(u)], end = p + elements_[at(u)]; p < end; ++p) {
      const std::int32_t e = lists_[at(p)];
      std::int64_t& outside = outside_[at(e)];
      if (outside >= now_) outside += weight_[at(u)];
      else if (outside > 0) outside = now_ + degree_[at(e)] + weight_[at(u)];
    }
  }

  /// Puts a variable into the element v. An element whose variables are all in v is absorbed. A variable without
  /// neighbours outside v is eliminated together with v.
  void join(std::int32_t u, std::int32_t v) {
    const std::int64_t first = begin_[at(u)], variables = first + elements_[at(u)], last = first + length_[at(u)];
    std::int64_t to = first, degree = 0;
    std::uint64_t hash = 0;
    for (std::int64_t p = first; p < variables; ++p) {
      const std::int32_t e = lists_[at(p)];
      if (outside_[at(e)] == now_) outside_[at(e)] = 0;
      if (outside_[at(e)] == 0) continue;
      degree += outside_[at(e)] - now_, hash += static_cast<std::uint64_t>(e);
      lists_[at(to++)] = e;
    }
    const std::int64_t elements_end = to;
    for (std::int64_t p = variables; p < last; ++p) {
      const std::int32_t x = lists_[at(p)];
      if (weight_[at(x)] <= 0) continue;
      degree += weight_[at(x)], hash += static_cast<std::uint64_t>(x);
      lists_[at(to++)] = x;
    }
    if (degree == 0 && waits_for_[at(u)] == 0) {
      clique_weight_ += weight_[at(u)], remaining_ += weight_[at(u)];
      weight_[at(u)] = 0;
      keep_together(u, v);
      return;
    }
    // v, or an element that v has absorbed, left a place: v takes the first, what stood in the way goes to the ends.
    lists_[at(to)] = lists_[at(elements_end)];
    lists_[at(elements_end)] = lists_[at(first)];
    lists_[at(first)] = v;
    elements_[at(u)] = static_cast<std::int32_t>(elements_end + 1 - first);
    length_[at(u)] = static_cast<std::int32_t>(to + 1 - first);
    degree_[at(u)] = static_cast<std::int32_t>(std::min<std::int64_t>(degree_[at(u)], degree));
    if (waits_for_[at(u)] > 0) return;
    hash_[at(u)] = static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(size_));
    next_of_hash_[at(u)] = std::exchange(of_hash_[at(hash_[at(u)])], u);
  }

  /// Variables with the same neighbours have the same pattern from here on: one stands for all of them. Compares those
  /// whose hash is u's.
  void merge_equal(std::int32_t u) {
    if (weight_[at(u)] == 0 || waits_for_[at(u)] > 0) return;
    for (std::int32_t a = std::exchange(of_hash_[at(hash_[at(u)])], no_node); a != no_node; a = next_of_hash_[at(a)]) {
      if (next_of_hash_[at(a)] == no_node) return;
      compared_.begin();
      for (std::int64_t p = begin_[at(a)] + 1, end = begin_[at(a)] + length_[at(a)]; p < end; ++p)
        compared_.add(lists_[at(p)]);
      for (std::int32_t last = a, b = next_of_hash_[at(a)]; b != no_node; b = next_of_hash_[at(b)]) {
        if (is_equal_to_compared(b, a)) merge(b, a), next_of_hash_[at(last)] = next_of_hash_[at(b)];
        else last = b;
      }
    }
  }
  bool is_equal_to_compared(std::int32_t b, std::int32_t a) const {
    if (length_[at(b)] != length_[at(a)] || elements_[at(b)] != elements_[at(a)]) return false;
    const auto first = lists_.begin() + begin_[at(b)];
    return std::all_of(first + 1, first + length_[at(b)], [&](std::int32_t i) { return compared_.has(i); });
  }
  void merge(std::int32_t gone, std::int32_t into) {
    weight_[at(into)] += std::exchange(weight_[at(gone)], 0);
    keep_together(gone, into);
  }

  void keep_together(std::int32_t u, std::int32_t with) {
    follows_[at(last_[at(with)])] = u;
    last_[at(with)] = last_[at(u)];
  }
  void put_out(std::int32_t v) {
    for (; v != no_node; v = follows_[at(v)]) {
      order_.push_back(v);
      for_each_waiting(v, [&](std::int32_t u) {
        if (--waits_for_[at(u)] == 0 && weight_[at(u)] > 0) offer(u);
      });
    }
  }

  const Graph& graph_;
  const std::vector<bool>& comes_after_;
  std::int64_t size_;
  // A variable's list has elements, so many as `elements_`, and behind them variables; an element's has variables. What
  // is gone may stand in both.
  Nodes lists_;
  std::vector<std::int64_t> begin_;
  Nodes length_, elements_;
  Nodes weight_;                       // of a variable: nodes that it stands for; else 0
  Nodes degree_;                       // variable: of at most so many outside itself; element: of so many
  Nodes waits_for_;                    // so many nodes that are not in the order yet
  std::vector<std::int64_t> outside_;  // of an element, > 0; of all else 0
  Nodes follows_, last_;               // nodes that stand together; of their first one: the last
  Nodes next_, before_, of_degree_;
  Nodes of_hash_, next_of_hash_, hash_;
  Marks compared_;
  std::int32_t least_ = 0, remaining_ = 0, clique_weight_ = 0;
  std::int64_t clique_ = 0;  // where the clique begins
  std::int64_t now_ = 1;
  Nodes order_;
};

}  // namespace

Nodes matching(Nodes found, std::int64_t right, const std::function<std::span<const std::int32_t>(std::int32_t)>& of) {
  Nodes partner(at(right), no_node), came_from(at(right), no_node);
  for (std::int32_t i = 0; i < std::ssize(found); ++i)
    if (found[at(i)] != no_node) partner[at(found[at(i)])] = i;
  Marks seen(at(right));
  for (std::int32_t root = 0; root < std::ssize(found); ++root) {
    if (found[at(root)] != no_node) continue;
    seen.begin();
    Nodes queue{root};
    std::int32_t free = no_node;
    for (std::size_t next = 0; next < queue.size() && free == no_node; ++next)
      for (const std::int32_t j : of(queue[next])) {
        if (!seen.add(j)) continue;
        came_from[at(j)] = queue[next];
        if (partner[at(j)] == no_node) {
          free = j;
          break;
        }
        queue.push_back(partner[at(j)]);
      }
    if (free == no_node) break;
    while (free != no_node) {  // along the path, each takes the neighbour by which it was reached
      const std::int32_t i = came_from[at(free)];
      partner[at(free)] = i;
      free = std::exchange(found[at(i)], free);
    }
  }
  return found;
}

Nodes elimination_order(const Graph& graph, const std::vector<bool>& comes_after) {
  return MinimumDegree(graph, comes_after).order();
}

}  // namespace ricci::sparse
