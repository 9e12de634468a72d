// Put: the one operation behind every write through a view, and behind the transposes of views.
#include "ops/put.h"

#include <cstring>

#include "kernels/elementwise.h"
#include "ops/axes.h"
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
    Type type{out[0].dtype, Shape(out[0].shape, out[0].shape + out[0].rank)};
    Strides strides(out[0].strides, out[0].strides + out[0].rank);
    void* data = out[0].data;
    const bool is_view = view.op().rules->alias(view.op().parameters, type, strides, data);
    (void)is_view;  // the output is contiguous, which every view can show
    kernels::copy({data, type.dtype, type.rank(), type.shape.host(), strides.data()}, in[1]);
  }
  Tensor transpose(int i, const Tensor& ct, const Reverse& r) const {
    if (i == 0) return put(ct, zeros_of(r.input_types[1]), view);
    return apply_all(view.op(), {&ct, 1})[0];
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

ValueRef put_through_view(Op view, const ValueRef& base, const ValueRef& value) {
  // expand alone cannot be lifted. Where it may be written to, it repeats nothing: it shows the whole base, or nothing.
  if (!view.rules->lifted)
    return value->type.shape.numel() == base->type.shape.numel() ? read(reshape(wrap(value), base->type.shape), "write")
                                                                 : base;
  return read(put(wrap(base), wrap(value), ViewParameter{InnerOp(view)}), "write");
}

}  // namespace ricci
