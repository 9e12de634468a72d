// Sizes in numbers.
#include "compile/lane_sizes.h"

#include <algorithm>

#include "primitive/interpreter.h"

namespace ricci::compiled {
std::vector<Size> LaneSizes::of_inputs(const ProgramBody& body, const ExpandOptions& options) {
  std::vector<Size> sizes;
  if (options.table)
    for (const Size size : options.table->inputs()) sizes.push_back(size);
  else
    for (const Variable v : body.inputs)
      for (const Size size : body.types[static_cast<std::size_t>(v)].shape) sizes.push_back(size);
  return sizes;
}

LaneSizes::LaneSizes(const ProgramBody& body, std::int64_t lanes, const ExpandOptions& options)
    : table_(options.table ? options.table.get() : body.symbols.get()),
      lanes_(lanes),
      lane_(options.lanes),
      outer_(options.outer) {
  if (!table_) return;
  std::vector<std::optional<int>> unknown_of;  // by size of the inputs
  for (const Size size : of_inputs(body, options)) {
    const std::size_t i = sizes_.size();
    const std::optional<int> unknown = size.is_symbol() ? table_->unknown_of(size) : std::nullopt;
    unknown_of.push_back(unknown);
    sizes_.push_back(size);
    if (!unknown) continue;
    const std::int64_t given = i < options.sizes.size() ? options.sizes[i] : -1;
    const std::int64_t seen = table_->hint(size);
    const bool is_chosen = unknown == lane_.unknown || unknown == outer_.unknown;
    const bool is_small = options.sizes.empty() && seen <= options.most_unrolled && !is_chosen;
    if (given >= 0 || is_small) {
      sizes_.back() = given >= 0 ? given : seen;
      continue;
    }
    if (!lane_.is_given() && unknown != outer_.unknown) lane_.unknown = unknown;
    const auto place = std::ranges::find(unknowns_, *unknown) - unknowns_.begin();
    if (place == std::ssize(unknowns_)) unknowns_.push_back(*unknown), open_.push_back(size);
    sizes_.back() = unknown == lane_.unknown ? lanes : unknown == outer_.unknown ? outer_count : 1009 + 10 * place;
  }
  with_more_lanes_ = with_more_outer_ = with_others_open_ = sizes_;
  for (std::size_t i = 0; i < unknown_of.size(); ++i) {
    if (!unknown_of[i] || std::ranges::find(unknowns_, *unknown_of[i]) == unknowns_.end()) continue;
    std::vector<Size>& more = unknown_of[i] == lane_.unknown    ? with_more_lanes_
                              : unknown_of[i] == outer_.unknown ? with_more_outer_
                                                                : with_others_open_;
    more[i] = more[i] + 1;
  }
  for (std::vector<Size>* const sizes : {&sizes_, &with_more_lanes_, &with_more_outer_, &with_others_open_})
    for (Size& size : *sizes)
      if (size.is_symbol()) size = table_->evaluate(size, *sizes);
}

bool LaneSizes::choices_hold() const {
  const auto holds = [this](const Guard& g) {
    return g.relation > Guard::Relation::different ||
           g.holds(table_->evaluate(g.left, sizes_), table_->evaluate(g.right, sizes_));
  };
  return !table_ || std::ranges::all_of(table_->guards(), holds);
}

void LaneSizes::require_guards() const {
  if (const Guard* guard = table_ ? table_->broken(sizes_) : nullptr)
    refuse("it holds only where " + table_->print(guard->left) + to_string(guard->relation) +
           table_->print(guard->right));
}

bool LaneSizes::changes_with(Size size, const std::vector<Size>& others) const {
  return size.is_symbol() && table_->evaluate(size, sizes_).raw() != table_->evaluate(size, others).raw();
}
bool LaneSizes::is(Size size, const OpenSize& open) const {
  return size.is_symbol() ? open.unknown && table_->unknown_of(size) == open.unknown : open.is_number(size);
}
bool LaneSizes::depends(Size size, const OpenSize& open, const std::vector<Size>& with_more) const {
  return size.is_symbol() ? open.unknown && changes_with(size, with_more) : open.is_number(size);
}
std::int64_t LaneSizes::size_of_lane(Size size) const {
  if (!size.is_symbol()) return lane_.is_number(size) ? 1 : 0;
  const std::int64_t now = table_->evaluate(size, sizes_).raw();
  const std::int64_t of_lane = table_->evaluate(size, with_more_lanes_).raw() - now;
  return now == of_lane * lanes_ ? of_lane : 0;
}
bool LaneSizes::is_open(Size size) const { return changes_with(size, with_others_open_); }

namespace {

template <class Is>
bool any_size(const Equation& e, const Is& is) {
  struct Look final : ParameterVisitor {
    const Is& is;
    bool found = false;
    explicit Look(const Is& is) : ParameterVisitor(Mode::reads), is(is) {}
    void size(Size& size) override { found = found || is(size); }
  } look(is);
  e.rules->parameters.walk(e.parameters.get(), look);
  return look.found;
}

}  // namespace

bool LaneSizes::reads_open(const Equation& e) const {
  return any_size(e, [this](Size size) { return is_open(size); });
}
bool LaneSizes::reads_lanes(const Equation& e) const {
  return any_size(e, [this](Size size) { return depends_on_lanes(size); });
}

void LaneSizes::require_no_open() const {
  if (unknowns_.size() > 1 || (lane_.number > 0 && !unknowns_.empty()))
    refuse("the sizes " + table_->print(open_.front()) + " and " +
           (lane_.number > 0 ? std::to_string(lane_.number) : table_->print(open_.back())) + " may both be others");
}

Type LaneSizes::put(Type type) const {
  for (Size& size : type.shape) put(size);
  return type;
}

namespace {
template <class Put>
OwnedParameters with_sizes(const Equation& e, const Put& put) {
  struct Numbers final : ParameterVisitor {
    const Put& put;
    explicit Numbers(const Put& put) : ParameterVisitor(Mode::edits), put(put) {}
    void size(Size& size) override { put(size); }
  } numbers(put);
  return {e.rules->parameters, e.parameters.get(), numbers};
}
}  // namespace

/// Whether the type rule gives what the program says.
bool LaneSizes::fits(const Equation& e, const OwnedParameters& parameters, const std::vector<Type>& types) const try {
  const auto here = [&](Variable v) { return put(types[static_cast<std::size_t>(v)]); };
  Types in;
  for (const Variable v : e.inputs) in.push_back(here(v));
  const auto has_shape = [&](const Type& found, Variable v) { return found.shape == here(v).shape; };
  return std::ranges::equal(types_of(Op{e.rules, parameters.get()}, in), e.outputs, has_shape);
} catch (const Error&) { return false; }

OwnedParameters LaneSizes::put(const Equation& e, const std::vector<Type>& types) const {
  const bool has_numbers = lane_.number > 0 || outer_.number > 0, has_symbols = table_ && e.has_symbols;
  const auto put_symbols = [&](Size& size) {
    if (size.is_symbol()) put(size);
  };
  OwnedParameters others = has_symbols ? with_sizes(e, put_symbols) : e.parameters;
  if (!has_numbers || fits(e, others, types)) return others;
  return with_sizes(e, [&](Size& size) { put(size); });
}

}  // namespace ricci::compiled
