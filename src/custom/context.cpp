// What a Context says of the tensors and values that were saved in it.
#include "ricci/function/context.h"

#include "primitive/wording.h"
#include "ricci/primitive/raise.h"

namespace ricci {

const std::vector<Tensor>& Context::saved_list() const {
  const auto& own = reader_ == Reader::backward ? for_backward_ : for_forward_;
  const auto& other = reader_ == Reader::backward ? for_forward_ : for_backward_;
  return own.empty() ? other : own;
}

Tensor Context::saved(std::size_t i) const {
  const std::vector<Tensor>& list = saved_list();
  if (i >= list.size())
    raise<IndexError>(std::string(function_) + ": ctx.saved(" + std::to_string(i) +
                      ") is out of range: setup_context " + "saved " + count_of(list.size(), "tensor", "tensors"));
  return list[i];
}

const void* Context::find_value(std::size_t i, std::string_view type) const {
  const std::string call =
      std::string(function_) + ": ctx.value<" + tree::readable_type(type) + ">(" + std::to_string(i) + ")";
  if (i >= notes_.values.size())
    raise<IndexError>(call + " is out of range: setup_context saved " +
                      count_of(notes_.values.size(), "value", "values"));
  const function::SavedValue& saved = notes_.values[i];
  if (saved.type != type)
    raise<TypeError>(call + ": value " + std::to_string(i) + " was saved as " + tree::readable_type(saved.type) +
                     "; read it as that");
  return saved.object.get();
}

bool Context::needs_input_grad(std::size_t i) const {
  if (i >= notes_.arguments)
    raise<IndexError>(std::string(function_) + ": ctx.needs_input_grad(" + std::to_string(i) +
                      ") is out of range: forward takes " + count_of(notes_.arguments, "argument", "arguments"));
  return notes_.needs_gradient[i];
}

}  // namespace ricci
