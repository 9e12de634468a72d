// Put: the one operation behind every write through a view, and behind the transposes of views.
#include "ops/put.h"

#include <cstring>

#include "kernels/elementwise.h"
#include "ops/axes.h"
#include "primitive/given.h"
#include "primitive/writing.h"

namespace ricci {

void ViewParameter::parse_parameter(std::string_view& text) {
  const std::string_view name = text.substr(0, text.find_first_of("[,]"));
  for (const Rules* candidate : registry())
    if (name == candidate->name) inner.rules = candidate;
  if (!inner.rules || !inner.rules->is_view)
    throw ValueError("no view is called " + std::string(name) + "; only a view can be written through");
  text.remove_prefix(name.size());
  if (inner.rules->parameters.size == 0) return;
  parameters::expect(text, "[");
  inner.parameters = inner.rules->parameters.parse(text);
  parameters::expect(text, "]");
}

namespace {

/// Linear jointly in the base and the value.
struct Put {
  using kind = Linear;
  static constexpr const char* name = "put";
  static constexpr unsigned linear_in = input(0) | input(1);
  ViewParameter view;

  Type type(const Type& base, const Type& value) const {
    const Type shown = types_of(view.op(), Types{base})[0];
    require_shape(value.shape, shown.shape);
    return {base.dtype, base.shape};
  }
  void eval(Outputs out, Inputs in) const {
    kernels::copy(out[0], in[0]);
    const Strided base_and_value[] = {out[0], in[1]};
    overwrite({}, base_and_value);
  }
  /// Requires: in[0] is contiguous, which every view can show.
  void overwrite(const Strided& before, Inputs in) const {
    const Strided& base = in[0];
    Type type{base.dtype, Shape(base.shape, base.shape + base.rank)};
    Strides strides(base.strides, base.strides + base.rank);
    void* data = base.data;
    const bool is_view = view.op().rules->alias(view.op().parameters, type, strides, data);
    (void)is_view;
    const Strided part{data, type.dtype, type.rank(), type.shape.host(), strides.data()};
    if (before.data) kernels::copy(before, part);
    kernels::copy(part, in[1]);
  }
  /// A cotangent that nobody else needs becomes that of the base: the way back of a loop over a table of n rows clears
  /// a row a step, not the table.
  Tensors vjp(const Reverse& r) const {
    const Tensor& ct = r.cotangents[0];
    Tensor of_value, of_base;
    if (r.wants(1)) {
      of_value = apply_all(view.op(), {&ct, 1})[0];
      if (r.last_use && r.wants(0) && GivenAway::pays_for(r.input_types[0])) of_value = clone(of_value);
    }
    if (r.wants(0)) {
      const Tensor none = zeros_of(r.input_types[1]);
      of_base = r.last_use ? put_giving_away(ct, none, view) : put(ct, none, view);
    }
    return {of_base, of_value};
  }
  static std::vector<Sample<Put>> samples() {
    std::vector<Sample<Put>> all;
    for (const Rules* rules : registry()) {
      if (!rules->is_view || !rules->lifted || !rules->samples) continue;
      const ErasedSample sample = rules->samples()[0];
      const Tensor shown = apply_all({rules, sample.op.get()}, sample.inputs)[0];
      if (shown.dtype() != sample.inputs[0].dtype()) continue;
      const auto& layout = static_cast<const Array&>(*value_of(shown));
      if (overlaps_itself(layout.type.shape, layout.strides)) continue;  // such views cannot be written through
      all.push_back({{{InnerOp({rules, sample.op.get()})}}, {rand(sample.inputs[0].shape()), rand(shown.shape())}});
    }
    return all;
  }
  Put lifted(Size batch) const {
    const OwnedParameters parameters = view.op().rules->lifted(view.op().parameters, batch);
    return {{InnerOp({view.op().rules, parameters.get()})}};
  }
};

}  // namespace

Tensor put(const Tensor& base, const Tensor& value, const ViewParameter& view) { return apply(Put{view}, base, value); }

Tensor put_giving_away(const Tensor& base, const Tensor& value, const ViewParameter& view) {
  if (!base.cell()->refs.is(1) || base.cell()->link || !GivenAway::pays_for(type_of(base)))
    return put(base, value, view);
  GivenAway given(*base.cell(), nullptr);
  const GivenAway::Offer offer(&given);
  return put(base, value, view);
}

ValueRef put_through_view(Op view, const ValueRef& base, const ValueRef& value) {
  // expand alone cannot be lifted. Where it may be written to, it repeats nothing: it shows the whole base, or nothing.
  if (!view.rules->lifted)
    return value->type.shape.numel() == base->type.shape.numel() ? read(reshape(wrap(value), base->type.shape), "write")
                                                                 : base;
  return read(put(wrap(base), wrap(value), ViewParameter{InnerOp(view)}), "write");
}

}  // namespace ricci
