// Dims: printing them, laying them over a tree and reading them off one.
#include "ricci/dims.h"

#include <ostream>

#include "ricci/error.h"
#include "ricci/tree/match_dims.h"

namespace ricci {

Dims::Dims(std::initializer_list<Dims> parts) : children(parts), leaf(false) {}
Dims::Dims(std::vector<Dims> parts) : children(std::move(parts)), leaf(false) {}
Dims::Dims(const Dims& other) = default;
Dims::Dims(Dims&& other) noexcept = default;
Dims& Dims::operator=(const Dims& other) = default;
Dims& Dims::operator=(Dims&& other) noexcept = default;
Dims::~Dims() = default;

bool operator==(const Dims& left, const Dims& right) {
  return left.dim == right.dim && left.children == right.children && left.leaf == right.leaf;
}

std::string to_string(const Dims& dims) {
  if (dims.leaf) return dims.dim ? std::to_string(*dims.dim) : "none";
  std::string text = "(";
  for (const Dims& child : dims.children) text += (text.size() > 1 ? ", " : "") + to_string(child);
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << to_string(dims); }

namespace tree {
namespace {

bool is_lone_tensor(const Walk& walk) { return walk.nodes.size() == 1 && walk.nodes[0].kind == NodeKind::tensor; }

class Matcher {
 public:
  Matcher(const Dims& dims, const Walk& walk, const DimsWords& words) : root_(dims), walk_(walk), words_(words) {}

  MatchedDims match() {
    if (walk_.nodes.empty()) return {};
    const bool braced = !words_.is_argument_list && is_lone_tensor(walk_) && !root_.leaf && root_.children.size() == 1;
    const Dims& dims = braced ? root_.children[0] : root_;
    if (dims.leaf) cover(dims.dim);
    else follow(dims);
    return std::move(matched_);
  }

 private:
  bool failed() const { return !matched_.problem.empty(); }

  /// One entry for everything below the current node.
  void cover(Dim dim) {
    const Node& node = walk_.nodes[at_++];
    if (node.kind == NodeKind::tensor) matched_.dims.push_back(dim);
    for (std::size_t i = 0; i < node.children; ++i) cover(dim);
  }

  /// Braces: one entry for each child of the current node.
  void follow(const Dims& dims) {
    const Node& node = walk_.nodes[at_++];
    const bool is_empty_optional = node.kind == NodeKind::nothing;
    const bool is_leaf = node.kind == NodeKind::tensor || node.kind == NodeKind::value;
    if (is_empty_optional) return;
    if (is_leaf || dims.children.size() != node.children) return refuse_structure();
    for (const Dims& child : dims.children) {
      if (failed()) return;
      if (!child.leaf) follow(child);
      else if (child.dim && walk_.nodes[at_].kind == NodeKind::value) refuse_value(*child.dim);
      else cover(child.dim);
    }
  }

  void refuse_structure() { refuse("does not fit " + std::string(words_.tree) + ": "); }

  void refuse_value(std::int64_t axis) {
    const std::string type = readable_type(*walk_.nodes[at_].names);
    refuse("maps axis " + std::to_string(axis) + " of a non-tensor (" + type + "), whose place must be none: ");
  }

  void refuse(const std::string& finding) {
    ((matched_.problem.append(words_.call) += ": ").append(words_.option) += ' ') += finding;
    (matched_.problem.append(words_.option) += " is ") += to_string(root_) + ", ";
    ((matched_.problem.append(words_.tree) += ' ').append(words_.verb) += ' ') += to_string(walk_);
  }

  const Dims& root_;
  const Walk& walk_;
  const DimsWords& words_;
  MatchedDims matched_;
  std::size_t at_ = 0;
};

Dims dims_of_node(const Walk& walk, const std::vector<Dim>& dims, std::size_t& at, std::size_t& leaf) {
  const Node& node = walk.nodes[at++];
  if (node.kind == NodeKind::tensor) return dims[leaf++];
  if (node.kind == NodeKind::value || node.kind == NodeKind::nothing) return none;
  std::vector<Dims> children;
  children.reserve(node.children);
  for (std::size_t i = 0; i < node.children; ++i) children.push_back(dims_of_node(walk, dims, at, leaf));
  return Dims(std::move(children));
}

}  // namespace

MatchedDims try_match_dims(const Dims& dims, const Walk& walk, const DimsWords& words) {
  return Matcher(dims, walk, words).match();
}

std::vector<Dim> match_dims(const Dims& dims, const Walk& walk, const DimsWords& words) {
  MatchedDims matched = try_match_dims(dims, walk, words);
  if (!matched.problem.empty()) throw ValueError(matched.problem);
  return std::move(matched.dims);
}

Dims dims_like(const Walk& walk, const std::vector<Dim>& dims) {
  std::size_t at = 0, leaf = 0;
  return dims_of_node(walk, dims, at, leaf);
}

}  // namespace tree
}  // namespace ricci
