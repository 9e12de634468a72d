// The dtype of what is given no dtype: factories, numbers with a point, and what integers become where an operation has
// no integer form. Knows nothing of tensors.
#pragma once

#include <optional>

#include "ricci/dtype.h"

namespace ricci {

/// float32 until it is set. Complex numbers become complex128 if it is float64, else complex64; so do integers that
/// meet a complex number.
DType default_dtype();

/// Sets it for every thread. TypeError unless it is floating. A recorded program keeps the dtypes it was recorded with.
///   rc::set_default_dtype(rc::float64);  rc::zeros({3}).dtype();  // float64
void set_default_dtype(DType dtype);

/// Sets it for this thread, until the end of the scope. TypeError unless it is floating.
///   { rc::DefaultDType scope(rc::float64);  Tensor x = rc::tensor({0.1, 0.2});  }
class DefaultDType {
 public:
  explicit DefaultDType(DType dtype);
  DefaultDType(const DefaultDType&) = delete;
  DefaultDType& operator=(const DefaultDType&) = delete;
  ~DefaultDType();

 private:
  std::optional<DType> outer_;
};

/// What a number of this dtype becomes where nothing else decides.
inline DType dtype_for_number(DType dtype) {
  if (is_floating(dtype)) return default_dtype();
  if (is_complex(dtype)) return complex_dtype(default_dtype());
  return dtype == DType::boolean ? dtype : DType::int64;
}

}  // namespace ricci
