// Minimum degree on a quotient graph: a node that was eliminated is an element, the list of its neighbours then.
// After Amestoy, Davis and Duff, "An approximate minimum degree ordering algorithm", 1996.
#include "sparse/elimination.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ricci::sparse {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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
  MinimumDegree(std::vector<Nodes> neighbours, const std::vector<bool>& comes_after)
      : variables_(std::move(neighbours)),
        nodes_(variables_.size()),
        buckets_(variables_.size() + 1),
        outside_(variables_.size()),
        in_clique_(variables_.size()),
        counted_(variables_.size()),
        compared_(variables_.size()) {
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v)
      if (comes_after[at(v)])
        for (const std::int32_t u : variables_[at(v)])
          if (!comes_after[at(u)]) {
            ++nodes_[at(v)].waits_for;
            nodes_[at(u)].awaited_by.push_back(v);
          }
  }

  Nodes order() {
    set_dense_aside();
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v) {
      if (nodes_[at(v)].state != State::variable) continue;
      std::erase_if(variables_[at(v)], [&](std::int32_t u) { return nodes_[at(u)].state != State::variable; });
      nodes_[at(v)].degree = std::ssize(variables_[at(v)]);
      ++remaining_;
      offer(v);
    }
    for (std::int32_t v = next(); v != no_node; v = next()) eliminate(v);
    order_.insert(order_.end(), dense_.begin(), dense_.end());
    return std::move(order_);
  }

 private:
  enum class State : std::uint8_t { variable, element, gone };
  struct Node {
    State state = State::variable;
    std::int64_t waits_for = 0;  // so many nodes that are not in the order yet
    std::int64_t degree = 0;  // variable: of at most so many neighbours outside itself; element: of so many variables
    std::int64_t weight = 1;  // nodes that are eliminated together with this one, and it
    Nodes together, elements, awaited_by;
  };

  /// Nodes with very many neighbours come last: each step would read all of them.
  void set_dense_aside() {
    const double most = std::max(16., 10 * std::sqrt(static_cast<double>(nodes_.size())));
    Nodes waiting;
    const auto set_aside = [&](std::int32_t v, Nodes& among) {
      if (std::exchange(nodes_[at(v)].state, State::gone) != State::gone) among.push_back(v);
    };
    for (std::int32_t v = 0; v < std::ssize(nodes_); ++v) {
      if (static_cast<double>(variables_[at(v)].size()) <= most) continue;
      set_aside(v, nodes_[at(v)].waits_for > 0 ? waiting : dense_);
      for (const std::int32_t u : nodes_[at(v)].awaited_by) set_aside(u, waiting);
    }
    dense_.insert(dense_.end(), waiting.begin(), waiting.end());
  }

  void offer(std::int32_t v) {
    const Node& node = nodes_[at(v)];
    if (node.waits_for > 0) return;
    buckets_[at(node.degree)].push_back(v);
    least_ = std::min(least_, at(node.degree));
  }

  /// The one of least degree; what was offered at another degree before is passed over.
  std::int32_t next() {
    for (; least_ < buckets_.size(); ++least_) {
      Nodes& bucket = buckets_[least_];
      while (!bucket.empty()) {
        const std::int32_t v = bucket.back();
        bucket.pop_back();
        if (nodes_[at(v)].state == State::variable && at(nodes_[at(v)].degree) == least_) return v;
      }
    }
    return no_node;
  }

  void eliminate(std::int32_t v) {
    Nodes clique = neighbours_of(v);
    remaining_ -= nodes_[at(v)].weight;
    nodes_[at(v)].state = State::element;
    variables_[at(v)].clear();
    nodes_[at(v)].elements.clear();
    std::int64_t weight = 0;
    for (const std::int32_t u : clique) weight += nodes_[at(u)].weight;
    count_outside(clique);
    std::vector<std::pair<std::uint64_t, std::int32_t>> by_hash;
    for (const std::int32_t u : clique) by_hash.emplace_back(join(u, v, weight), u);
    merge_equal(by_hash);
    std::erase_if(clique, [&](std::int32_t u) { return nodes_[at(u)].state != State::variable; });
    for (const std::int32_t u : clique) offer(u);
    nodes_[at(v)].degree = weight;
    variables_[at(v)] = std::move(clique);
    put_out(v);
  }

  /// Of a variable, through the elements that it is in; these are absorbed. They stay marked in `in_clique_`.
  Nodes neighbours_of(std::int32_t v) {
    in_clique_.begin();
    in_clique_.add(v);
    Nodes found;
    const auto add = [&](const Nodes& nodes) {
      for (const std::int32_t u : nodes)
        if (nodes_[at(u)].state == State::variable && in_clique_.add(u)) found.push_back(u);
    };
    add(variables_[at(v)]);
    for (const std::int32_t e : nodes_[at(v)].elements) {
      if (nodes_[at(e)].state != State::element) continue;
      add(variables_[at(e)]);
      nodes_[at(e)].state = State::gone;
      Nodes().swap(variables_[at(e)]);
    }
    return found;
  }

  /// Of each element beside the new clique: how many of its variables are not in it.
  void count_outside(const Nodes& clique) {
    counted_.begin();
    for (const std::int32_t u : clique)
      for (const std::int32_t e : nodes_[at(u)].elements) {
        if (counted_.add(e)) outside_[at(e)] = nodes_[at(e)].degree;
        outside_[at(e)] -= nodes_[at(u)].weight;
      }
  }

  /// Puts a variable into the element v of this weight; returns a hash of what it is next to.
  std::uint64_t join(std::int32_t u, std::int32_t v, std::int64_t weight) {
    Node& node = nodes_[at(u)];
    std::int64_t degree = 0;
    std::uint64_t hash = 0;
    std::erase_if(node.elements, [&](std::int32_t e) {
      if (nodes_[at(e)].state == State::element && outside_[at(e)] == 0) nodes_[at(e)].state = State::gone;
      if (nodes_[at(e)].state != State::element) return true;
      degree += outside_[at(e)], hash += static_cast<std::uint64_t>(e);
      return false;
    });
    std::erase_if(variables_[at(u)], [&](std::int32_t x) {
      if (nodes_[at(x)].state != State::variable || in_clique_.has(x)) return true;
      degree += nodes_[at(x)].weight, hash += static_cast<std::uint64_t>(x);
      return false;
    });
    node.elements.push_back(v);
    const std::int64_t in_clique = weight - node.weight;
    node.degree = std::min({remaining_ - node.weight, node.degree + in_clique, degree + in_clique});
    return hash;
  }

  /// Variables with the same neighbours have the same pattern from here on: one stands for all of them.
  void merge_equal(std::vector<std::pair<std::uint64_t, std::int32_t>>& by_hash) {
    std::sort(by_hash.begin(), by_hash.end());
    for (std::size_t i = 0; i < by_hash.size(); ++i) {
      const std::int32_t u = by_hash[i].second;
      if (nodes_[at(u)].state != State::variable || nodes_[at(u)].waits_for > 0) continue;
      compared_.begin();
      for (const std::int32_t e : nodes_[at(u)].elements) compared_.add(e);
      for (const std::int32_t x : variables_[at(u)]) compared_.add(x);
      for (std::size_t k = i + 1; k < by_hash.size() && by_hash[k].first == by_hash[i].first; ++k)
        if (is_equal_to_compared(by_hash[k].second, u)) merge(by_hash[k].second, u);
    }
  }
  bool is_equal_to_compared(std::int32_t x, std::int32_t u) const {
    const Node& node = nodes_[at(x)];
    const auto is_marked = [&](std::int32_t i) { return compared_.has(i); };
    return node.state == State::variable && node.waits_for == 0 &&
           node.elements.size() == nodes_[at(u)].elements.size() &&
           variables_[at(x)].size() == variables_[at(u)].size() && std::ranges::all_of(node.elements, is_marked) &&
           std::ranges::all_of(variables_[at(x)], is_marked);
  }
  void merge(std::int32_t x, std::int32_t into) {
    Node &gone = nodes_[at(x)], &stays = nodes_[at(into)];
    gone.state = State::gone;
    stays.weight += gone.weight, stays.degree -= gone.weight;
    stays.together.push_back(x);
    stays.together.insert(stays.together.end(), gone.together.begin(), gone.together.end());
    Nodes().swap(variables_[at(x)]), Nodes().swap(gone.elements), Nodes().swap(gone.together);
  }

  void put_out(std::int32_t v) {
    Nodes all = std::move(nodes_[at(v)].together);
    all.insert(all.begin(), v);
    order_.insert(order_.end(), all.begin(), all.end());
    for (const std::int32_t done : all)
      for (const std::int32_t u : nodes_[at(done)].awaited_by) {
        if (--nodes_[at(u)].waits_for == 0 && nodes_[at(u)].state == State::variable) offer(u);
      }
  }

  std::vector<Nodes> variables_;  // next to a variable, but for those in its elements; in an element
  std::vector<Node> nodes_;
  std::vector<Nodes> buckets_;  // by degree
  std::vector<std::int64_t> outside_;
  Marks in_clique_, counted_, compared_;
  std::size_t least_ = 0;
  std::int64_t remaining_ = 0;
  Nodes order_, dense_;
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

Nodes elimination_order(std::vector<Nodes> neighbours, const std::vector<bool>& comes_after) {
  return MinimumDegree(std::move(neighbours), comes_after).order();
}

}  // namespace ricci::sparse
