// Finding the operation whose derivative is NaN.
#pragma once

namespace ricci {

/// While it lives, the first derivative of an operation on this thread that holds NaN throws ValueError, which names
/// the operation: in a gradient and, beyond PyTorch, in a tangent. Without it NaN goes on, and a gradient of NaN is all
/// that is seen. Values are not looked at, only derivatives; of those in recordings and compiled functions none. It
/// reads every derivative once, so it is for finding faults.
///   { rc::detect_anomaly guard; g = rc::grad(loss)(x); }
///   // sqrt: the gradient of operand 0, f64[3], holds NaN; …
class detect_anomaly {
 public:
  detect_anomaly();
  detect_anomaly(const detect_anomaly&) = delete;
  ~detect_anomaly();
};

}  // namespace ricci
