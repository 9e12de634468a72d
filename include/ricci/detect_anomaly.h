// Finding the operation whose derivative is NaN.
#pragma once

namespace ricci {

/// While a detect_anomaly lives, ValueError as soon as the derivative of an operation on this thread holds NaN; the
/// error names the operation. It looks at gradients and, beyond PyTorch, at tangents; not at values, and not inside
/// recordings or compiled functions. Without it only the final gradient is seen to be NaN. It reads every derivative
/// once more: use it to find faults.
///   { rc::detect_anomaly guard; g = rc::grad(loss)(x); }
///   // sqrt: the gradient of operand 0, f64[3], holds NaN; …
class detect_anomaly {
 public:
  detect_anomaly();
  detect_anomaly(const detect_anomaly&) = delete;
  ~detect_anomaly();
};

}  // namespace ricci
