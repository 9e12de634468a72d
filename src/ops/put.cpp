// Put: the one operation behind every write through a view, and behind the transposes of views.
#include "ops/put.h"

#include <cstring>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "primitive/given.h"
#include "primitive/writing.h"
#include "program/structure.h"
#include "ricci/primitive/element_rules.h"

namespace ricci {

Type ViewParameter::type_of_part(const Type& base) const {
  Type type = base;
  for (const InnerOp& view : views) type = types_of(view.op(), Types{type})[0];
  return type;
}

Tensor ViewParameter::part_of(const Tensor& base) const {
  Tensor part = base;
  for (const InnerOp& view : views) {
    const Tensor of = std::move(part);
    part = apply_all(view.op(), {&of, 1})[0];
  }
  return part;
}

bool ViewParameter::alias(Type& type, Strides& strides, void*& data, std::size_t most_axes) const {
  return std::all_of(views.begin(), views.end(), [&](const InnerOp& view) {
    return view.rules->alias(view.parameters.get(), type, strides, data) && strides.size() <= most_axes;
  });
}

ViewParameter ViewParameter::lifted(Size batch) const {
  ViewParameter all;
  for (const InnerOp& view : views) {
    const OwnedParameters parameters = view.rules->lifted(view.parameters.get(), batch);
    all.views.push_back(InnerOp({view.rules, parameters.get()}));
  }
  return all;
}

void ViewParameter::print_parameter(std::string& out) const {
  for (const InnerOp& view : views) {
    if (&view != views.begin()) out += ".";
    view.print_parameter(out);
  }
}

void ViewParameter::parse_parameter(std::string_view& text) {
  do {
    if (!views.empty()) text.remove_prefix(1);
    const std::string_view name = text.substr(0, text.find_first_of("[,]."));
    InnerOp view;
    for (const Rules* candidate : registry())
      if (name == candidate->name) view.rules = candidate;
    if (!view.rules || !view.rules->is_view())
      throw ValueError("no view is called " + std::string(name) + "; only a view can be written through");
    text.remove_prefix(name.size());
    if (view.rules->parameters.size != 0) {
      parameters::expect(text, "[");
      view.parameters = view.rules->parameters.parse(text);
      parameters::expect(text, "]");
    }
    views.push_back(std::move(view));
  } while (text.starts_with('.'));
}

void ViewParameter::walk_parameter(ParameterVisitor& visitor) {
  for (InnerOp& view : views) view.walk_parameter(visitor);
}

namespace {

/// Linear jointly in the base and the value.
struct Put {
  using kind = Linear;
  static constexpr const char* name = "put";
  static constexpr unsigned linear_in = input(0) | input(1);
  static constexpr unsigned moves_elements = all_inputs;
  ViewParameter view;

  Type type(const Type& base, const Type& value) const {
    require_shape(value.shape, view.type_of_part(base).shape);
    return {base.dtype, base.shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    const Strided base_and_value[] = {out[0], in[1]};
    overwrite(Overwriting::replace, {}, base_and_value);
  }
  bool overwrite(Overwriting step, const Strided& kept, Inputs in) const {
    const Strided& base = in[0];
    Type type{base.dtype, Shape(base.shape, base.shape + base.rank)};
    Strides strides(base.strides, base.strides + base.rank);
    void* data = base.data;
    // What is undone is laid out once more, on the stack.
    const std::size_t most_axes = step == Overwriting::keep ? axes_on_the_stack : ViewParameter::no_limit;
    if (!view.alias(type, strides, data, most_axes)) return false;
    const Strided part{data, type.dtype, type.rank(), type.shape.host(), strides.data()};
    switch (step) {
      case Overwriting::is_done:
        return in[1].data == data && in[1].dtype == type.dtype &&
               std::equal(strides.begin(), strides.end(), in[1].strides);
      case Overwriting::keep: kernels::copy(kept, part); break;
      case Overwriting::replace: kernels::copy(part, in[1]); break;
      case Overwriting::restore: kernels::copy(part, kept); break;
    }
    return true;
  }
  /// A cotangent that nobody else needs becomes that of the base: the way back of a loop over a table of n rows clears
  /// a row a step, not the table.
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    Tensor of_value, of_base;
    if (r.wants(1)) {
      of_value = view.part_of(ct);
      if (r.last_use && r.wants(0) && GivenAway::pays_for(*value_of(ct))) of_value = clone(of_value);
    }
    if (r.wants(0)) {
      const Tensor none = zeros_of(r.input_types[1]);
      of_base = r.last_use ? put_giving_away(ct, none, view) : put(ct, none, view);
    }
    return {of_base, of_value};
  }
  static std::vector<Sample<Put>> samples() {
    std::vector<Sample<Put>> all;
    const auto add = [&](const Tensor& base, const ViewParameter& view) {
      const Tensor shown = view.part_of(base);
      if (shown.dtype() != base.dtype()) return;
      const auto& layout = static_cast<const Array&>(*value_of(shown));
      if (overlaps_itself(layout.type.shape, layout.strides)) return;  // such views cannot be written through
      all.push_back({{view}, {rand(base.shape()), rand(shown.shape())}});
    };
    for (const Rules* rules : registry()) {
      if (!rules->is_view() || !rules->lifted || !rules->samples) continue;
      const ErasedSample sample = rules->samples()[0];
      const InnerOp first({rules, sample.op.get()});
      add(sample.inputs[0], first);
      ViewParameter two = first;
      two.views.push_back(two.views[0]);
      if (two.views.size() == 2 && first.op().rules->name == std::string_view("permute")) add(sample.inputs[0], two);
    }
    return all;
  }
  Put lifted(Size batch) const { return {view.lifted(batch)}; }
  Structure structure() const {
    return PartReplaced{[](const void* op, Type& type, Strides& strides, void*& data) {
      return erase::as<Put>(op).view.alias(type, strides, data);
    }};
  }
};

}  // namespace

Tensor put(const Tensor& base, const Tensor& value, const ViewParameter& view) { return apply(Put{view}, base, value); }

Tensor put_giving_away(const Tensor& base, const Tensor& value, const ViewParameter& view) {
  return GivenAway::from_handle(base, [&] { return put(base, value, view); });
}

namespace {

/// What a base is whose every element these views show once, where the last of them shows `value`; undefined for other
/// views. So no derivative of the old base is taken, of which nothing is left.
Tensor seen_back_through(std::span<const Op> views, const Type& base, const Tensor& value) {
  Types types{base};
  for (Op view : views) types.push_back(types_of(view, Types{types.back()})[0]);
  Tensor back = value;
  for (std::size_t i = views.size(); i-- > 0 && back.defined();) back = seen_back(views[i], types[i], back);
  return back;
}

/// A base that is a number stays one.
ValueRef base_read(const ValueRef& before, const Tensor& base) {
  return read(to_type(base, type_of(base).dtype, before->type.weak), "write");
}

}  // namespace

ValueRef base_of_shown(std::span<const Op> views, const ValueRef& base, const ValueRef& shown) {
  const Tensor whole = seen_back_through(views, base->type, wrap(shown));
  return whole.defined() ? base_read(base, whole) : put_through_views(views, base, shown);
}

ValueRef put_through_views(std::span<const Op> views, const ValueRef& base, const ValueRef& value) {
  // expand alone cannot be lifted. Where it may be written to, it repeats nothing: it shows the whole base, or nothing.
  if (!views[0].rules->lifted)
    return value->type.shape.numel() == base->type.shape.numel()
               ? base_read(base, reshape(wrap(value), base->type.shape))
               : base;
  ViewParameter all;
  for (Op view : views) all.views.push_back(InnerOp(view));
  return base_read(base, put(wrap(base), wrap(value), all));
}

}  // namespace ricci
