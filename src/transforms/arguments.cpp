// Arguments as cells that view the caller's, and the errors every transform shares.
#include "transforms/arguments.h"

#include <algorithm>
#include <cstring>

#include "interpreters/batch.h"
#include "interpreters/dual.h"
#include "interpreters/tape.h"
#include "primitive/running.h"
#include "ricci/primitive/raise.h"
#include "ricci/transforms/differentiated.h"

namespace ricci {

Entry entry_of(const char* name, runs::Place where) { return {.name = name, .file = where.file, .line = where.line}; }

Tensor show_argument(ValueRef value, Owned<ArgumentLink> link) {
  return make_view(std::move(value), current_level(), link.release());
}

ShownArgument::ShownArgument(const Tensor& leaf, Level level) {
  const Cell* cell = leaf.cell();
  for (; cell->link && !cell->link->is_argument(); cell = cell->link->base.cell()) {
    const OperationLink* view = cell->link->operation();
    if (!view) return;
    views.push_back(view);
  }
  if (cell->link && cell->link->argument()->level == level) argument = cell->link->argument();
  std::reverse(views.begin(), views.end());
}

Tensor shown_argument(const Tensor& leaf, Level level) {
  const ShownArgument shown(leaf, level);
  if (!shown.argument) return {};
  Tensor of_caller = shown.argument->base;
  for (const OperationLink* view : shown.views) {
    const Tensor* base = &of_caller;
    of_caller = apply_one(view->op(), &base, 1);
  }
  return shown.views.empty() ? of_caller : cut_like(std::move(of_caller), leaf);
}

Tensor cut_like(Tensor of_caller, const Tensor& leaf) {
  Link& link = *of_caller.cell()->link;
  link.cut_below = std::max(link.cut_below, leaf.cell()->link->cut_below);
  return of_caller;
}

void GivenArguments::note(const Tensor& leaf, bool is_shared) {
  if (!leaf.defined()) return;
  const ValueRef& value = value_of(leaf);
  const Value* elements = innermost_part(*value, ValueKind::array);
  const auto* array = static_cast<const Array*>(elements);
  if (array && overlaps_itself(array->type.shape, array->strides)) return;  // expanded: nobody writes to it
  const Cell* root = root_of(leaf.cell());
  leaves_.push_back({.tensor = leaf,
                     .before = wrap(with_own_elements(value)),
                     .root = is_lent(*root->value) ? ValueRef() : root->value,
                     .version = root->version,
                     .is_shared = is_shared});
}

namespace {

/// Whether the value is what a tape shows that watches the cell: another value of the same elements.
bool is_watched(const Value& value, const Cell* cell) {
  const Interpreter* tape = value.kind == ValueKind::taped ? find_interpreter(value.level) : nullptr;
  return tape && tape->lets_write(cell);
}

/// Whether both hold the same elements, to the bit.
bool have_same_bits(const Tensor& a, const Tensor& b) {
  const AtLevel eager(nullptr);
  const auto elements = [](const Tensor& t) {
    ValueRef value = value_of(t);
    while (value->kind != ValueKind::array) value = ValueRef(*inner_of(*value));
    return contiguous(wrap(std::move(value)));
  };
  const Tensor x = elements(a), y = elements(b);
  const auto address = [](const Tensor& t) { return static_cast<const Array&>(*value_of(t)).data; };
  const auto bytes = static_cast<std::size_t>(bytes_of(type_of(x)));
  return bytes == 0 || std::memcmp(address(x), address(y), bytes) == 0;
}

}  // namespace

/// A write gives the root another value, for this holds the one that it had. Lent memory alone is overwritten where it
/// stands.
bool GivenArguments::Leaf::is_written() const {
  const Cell* cell = root_of(tensor.cell());
  if (cell->version == version) return false;
  if (!root) return !innermost_part(*value_of(tensor), ValueKind::array) || !have_same_bits(tensor, before);
  const Value* now = cell->value.get();
  while (now != root.get() && is_watched(*now, cell)) now = inner_of(*now)->get();
  return now != root.get();
}

void GivenArguments::Leaf::restore() const {
  if (is_written()) tensor.copy_(before);
}

void GivenArguments::restore() const {
  for (const Leaf& leaf : leaves_) leaf.restore();
}

void GivenArguments::restore_shared() const {
  for (const Leaf& leaf : leaves_)
    if (leaf.is_shared) leaf.restore();
}

bool runs::is_on_tape(const Tensor& x) {
  const ValueRef value = read(x, "requires_grad");
  return innermost_part(*value,
                        [](const Value& part) { return part.kind == ValueKind::taped && is_running(part.level); });
}

void runs::require_undifferentiated(const Tensor& x, const char* made, const char* remedy) {
  const ValueRef value = read(x, made);
  const Value* part = innermost_part(*value, [](const Value& part) {
    return (part.kind == ValueKind::taped || part.kind == ValueKind::dual) && is_running(part.level);
  });
  if (!part) return;
  raise<TransformError>(std::string(made) + " of " + to_string(type_of(x)) + " would have no derivative, and " +
                        transform_text(find_interpreter(part->level)) + " differentiates the tensor; " + remedy);
}

ValueRef without_level(const ValueRef& value, Level level) {
  if (value->level != level) return value;
  const ValueRef* inner = inner_of(*value);
  return inner ? *inner : value;
}

namespace {

/// What the argument of this level's transform holds of a value that tapes inside the transform watch.
ValueRef without_tapes_inside(ValueRef value, Level level) {
  while (value->level > level && value->kind == ValueKind::taped) value = *inner_of(*value);
  return value;
}

}  // namespace

ValueRef DifferentiatedArgument::base_after(const ValueRef&, const ValueRef& value) const {
  return without_level(without_tapes_inside(value, level), level);
}

Tensor DifferentiatedArgument::part_of_caller(const Interpreter&, std::span<const Op> views) const {
  return shown_through(views, base);
}

ValueRef DifferentiatedArgument::value_of_caller(Interpreter&, const ValueRef& value) const {
  return base_after({}, value);
}

Tensor view_of_rows(Op view, const Tensor& rows, Size size) {
  if (!view.rules->lifted) {
    const bool mapped = true;
    return view.rules->batch(view.parameters, {.size = size, .inputs = {&rows, 1}, .mapped = Mask{mapped}}).outputs[0];
  }
  const OwnedParameters lifted = view.rules->lifted(view.parameters, size);
  const Tensor* input = &rows;
  return apply_one({view.rules, lifted.get()}, &input, 1);
}

ValueRef MappedArgument::base_after(const ValueRef& base_value, const ValueRef& value) const {
  Interpreter* interpreter = find_interpreter(level);
  if (!interpreter) return base_value;
  const AtLevel outside(interpreter->parent);
  const NoGradBelow none(0);  // of what is beside a part that was written
  const ValueRef rows = value_of_caller(*interpreter, value);
  return axis == 0 ? rows : read(contiguous(movedim(wrap(rows), 0, axis)), "write");
}

Tensor MappedArgument::part_of_caller(const Interpreter& transform, std::span<const Op> views) const {
  const auto& batch = static_cast<const BatchInterpreter&>(transform);
  Tensor part = axis == 0 ? base : movedim(base, axis, 0);
  for (Op view : views) part = view_of_rows(view, part, batch.size);
  return part;
}

ValueRef MappedArgument::value_of_caller(Interpreter& transform, const ValueRef& value) const {
  const auto& batch = static_cast<const BatchInterpreter&>(transform);
  if (batch.lanes) {
    const AtLevel inside(&transform);  // which the error names
    raise<NotImplementedError>("write: the target is an argument of " + transform_text(&batch) +
                               ", of whose examples only a part runs; write to a clone() of it");
  }
  return read(rows_of(batch, without_tapes_inside(value, level)), "write");
}

bool MappedArgument::locate(Type& type, Strides& strides, void*&) const {
  type.shape.erase(static_cast<std::size_t>(axis));
  strides.erase(static_cast<std::size_t>(axis));
  return true;
}

template <class E>
void raise_own(const std::string& text, runs::Place where) {
  throw E(with_nest(text + at(where.file, where.line)));
}
template void raise_own<ValueError>(const std::string&, runs::Place);
template void raise_own<TypeError>(const std::string&, runs::Place);
template void raise_own<IndexError>(const std::string&, runs::Place);
template void raise_own<TransformError>(const std::string&, runs::Place);
template void raise_own<NotImplementedError>(const std::string&, runs::Place);

void raise_no_tensor(const char* name, const std::string& found, runs::Place where) {
  raise_own<TypeError>(std::string(name) + ": the function returned no tensor: the result is " + found +
                           "; return a Tensor or a tree that holds one",
                       where);
}

void require_tensors(const char* name, const char* root, const tree::Walk& walk, runs::Place where) {
  if (walk.leaves.empty()) raise_no_tensor(name, tree::to_string(walk), where);
  for (std::size_t i = 0; i < walk.leaves.size(); ++i)
    if (!walk.leaves[i]->defined())
      raise_own<ValueError>(
          std::string(name) + ": " + path_of(root, walk, i) + " is an undefined Tensor; give it a value first", where);
}

void require_some_tensor(const char* name, const char* root, const tree::Walk& walk, runs::Place where) {
  const auto is_defined = [](const Tensor* leaf) { return leaf->defined(); };
  if (std::none_of(walk.leaves.begin(), walk.leaves.end(), is_defined)) require_tensors(name, root, walk, where);
}

std::string path_of(const char* root, const tree::Walk& walk, std::size_t i) {
  const std::string path = tree::leaf_path(walk, i);
  return path.empty() ? root : std::string(root) + " (" + path + ")";
}

void refresh(const tree::Walk& walk) {
  for (const Tensor* leaf : walk.leaves)
    if (leaf->defined()) value_of(*leaf);
}

void require_differentiable(const char* name, const tree::Walk& output, runs::Place where) {
  require_tensors(name, "output", output, where);
  for (std::size_t i = 0; i < output.leaves.size(); ++i) {
    const Type type = type_of(*output.leaves[i]);
    if (!is_differentiable(type.dtype))
      raise_own<TypeError>(std::string(name) + ": " + path_of("output", output, i) + " is " + to_string(type) +
                               ", which has no derivative; return it through rc::has_aux",
                           where);
  }
}

void require_some_differentiable(const char* name, const tree::Walk& output, runs::Place where) {
  require_some_tensor(name, "output", output, where);
  for (const Tensor* leaf : output.leaves)
    if (leaf->defined() && is_differentiable(type_of(*leaf).dtype)) return;
  require_differentiable(name, output, where);
}

namespace {

/// What to do about an argument without a derivative. An index that is converted is none any more: where the function
/// has an argument with a derivative, `other`, differentiating that one alone is the better way.
std::string remedy_without_derivative(const char* name, bool is_alone, int other, Chosen chosen, bool has_tangents) {
  const std::string convert = std::string("convert ") + (is_alone ? "it" : "a tensor of it") + " with .to(rc::float32)";
  if (other < 0) return convert;
  if (chosen == Chosen::by_number)
    return std::string("differentiate others, as ") + name + "<" + std::to_string(other) + ">, or " + convert;
  return std::string("capture it in the function, or put it into a struct, tuple or list with others") +
         (has_tangents ? ", or pass an undefined tangent for it" : "");
}

}  // namespace

void require_arguments(const char* name, const char* word, std::span<const tree::Walk> arguments,
                       std::span<const int> differentiated, Chosen chosen, runs::Place where,
                       std::span<const tree::Walk> tangents) {
  const auto holds = [&](int argument, const auto& is_wanted) {
    const auto& leaves = arguments[static_cast<std::size_t>(argument)].leaves;
    return std::any_of(leaves.begin(), leaves.end(),
                       [&](const Tensor* leaf) { return leaf->defined() && is_wanted(type_of(*leaf)); });
  };
  const auto holds_derivative = [&](int argument) {
    return holds(argument, [](const Type& type) { return is_differentiable(type.dtype); });
  };
  const auto lacks_tangent = [&](int argument) {
    if (tangents.empty()) return false;
    const auto& leaves = tangents[static_cast<std::size_t>(argument)].leaves;
    return leaves.size() == 1 && !leaves[0]->defined();
  };
  for (int argument : differentiated) {
    const tree::Walk& walk = arguments[static_cast<std::size_t>(argument)];
    const bool is_alone = walk.nodes.size() == 1;
    if (!holds(argument, [](const Type&) { return true; }) || holds_derivative(argument)) continue;
    int other = 0;
    while (other < static_cast<int>(arguments.size()) && !holds_derivative(other)) ++other;
    const bool any = other < static_cast<int>(arguments.size());
    if ((!is_alone || lacks_tangent(argument)) && any && chosen == Chosen::together) continue;
    raise_own<TypeError>(std::string(name) + ": " + word + " " + std::to_string(argument) + " is " +
                             tree::to_string(walk) +
                             (is_alone ? ", which has no derivative; " : ", of which nothing has a derivative; ") +
                             remedy_without_derivative(name, is_alone, any ? other : -1, chosen, !tangents.empty()),
                         where);
  }
}

void require_loss(const char* name, const Type& type, runs::Place where, const char* instead) {
  const std::string start =
      std::string(name) + ": the output must be one real floating 0-dim tensor, found " + to_string(type) + "; ";
  if (is_complex(type.dtype)) raise_own<TypeError>(start + "return its real part or its absolute value", where);
  if (!is_floating(type.dtype)) raise_own<TypeError>(start + "compute the loss in a floating dtype", where);
  if (type.rank() != 0) raise_own<ValueError>(start + "reduce it to one number, or " + instead, where);
}

void raise_no_loss(const char* name, const std::string& found, runs::Place where) {
  raise_own<TypeError>(std::string(name) + ": the output must be one real floating 0-dim tensor, found " + found +
                           "; return the loss alone, or a pair {loss, aux} with rc::has_aux",
                       where);
}

void require_chunk_size(const char* name, std::optional<std::int64_t> chunk_size, runs::Place where) {
  if (chunk_size && *chunk_size < 1)
    raise_own<ValueError>(
        std::string(name) + ": chunk_size is " + std::to_string(*chunk_size) + "; it must be at least 1", where);
}

template <class E>
void Misfit::raise(const std::string& finding) const {
  raise_own<E>(std::string(name) + ": " + what + ": " + finding + "; " + remedy, where);
}
template void Misfit::raise<ValueError>(const std::string&) const;
template void Misfit::raise<TypeError>(const std::string&) const;

Tensor fitted_leaf(const Misfit& misfit, const std::string& given, const std::string& like, const tree::Walk& walk,
                   std::size_t i, const std::optional<Type>& want) {
  const Tensor& leaf = *walk.leaves[i];
  if (!leaf.defined() && (!want || !is_differentiable(want->dtype)))
    return {};  // nothing, along what has no derivative
  const auto finding = [&] {
    return path_of(given.c_str(), walk, i) + " is " + (leaf.defined() ? to_string(Type{type_of(leaf)}) : "undefined") +
           ", " + path_of(like.c_str(), walk, i) + " is " + (want ? to_string(*want) : "undefined");
  };
  if (!leaf.defined() || !want) misfit.raise<ValueError>(finding());
  live(value_of(leaf), misfit.name);  // nobody else looks at one that is returned as it is
  const Type have = type_of(leaf);
  if (!(have.shape == want->shape)) misfit.raise<ValueError>(finding());
  if (have.dtype == want->dtype) return leaf;
  if (!have.weak) misfit.raise<TypeError>(finding());
  return to(leaf, want->dtype);
}

void require_real(const char* name, const char* root, const tree::Walk& walk, runs::Place where, const char* remedy) {
  for (std::size_t i = 0; i < walk.leaves.size(); ++i) {
    if (!walk.leaves[i]->defined()) continue;
    const Type type = type_of(*walk.leaves[i]);
    if (is_complex(type.dtype))
      raise_own<TypeError>(std::string(name) + ": " + path_of(root, walk, i) + " is " + to_string(type) + remedy,
                           where);
  }
}

}  // namespace ricci
