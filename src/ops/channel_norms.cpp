// Normalising over examples or groups of channels: batch_norm, group_norm, instance_norm. Each is layer_norm's formula
// on the tensor reshaped so that what is normalised together lies along the last axis.
#include "ops/axes.h"
#include "ops/sums.h"
#include "primitive/writing.h"
#include "ricci/ops.h"

namespace ricci {
namespace {

constexpr double default_eps = 1e-5, default_momentum = 0.1;

void require_channels(const char* op, const Tensor& x) {
  require_real_floating(op, x);
  if (type_of(x).rank() < 2)
    raise<ValueError>(std::string(op) + ": the input is " + type_text(x) + "; it must be [batch, channels, …]");
}

Size channels_of(const Tensor& x) { return type_of(x).shape[1]; }

void require_one_per_channel(const char* op, const char* what, const Tensor& t, const Tensor& x) {
  if (t.defined() && !(type_of(t).shape == Shape{channels_of(x)}))
    raise<ValueError>(std::string(op) + ": the " + what + " is " + type_text(t) +
                      "; it must have one value for each of the " +
                      count_of(channels_of(x).hint(), "channel", "channels") + " of the input " + type_text(x));
}

/// [channels] as [channels, 1, …], to stand beside [batch, channels, …].
Tensor beside(const Tensor& per_channel, const Tensor& x) {
  Shape shape = Shape::filled(static_cast<std::size_t>(x.dim() - 1), 1);
  shape[0] = channels_of(x);
  return reshape(per_channel, shape);
}

Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  const Tensor sized = weight.defined() ? y * beside(weight, y) : y;
  return bias.defined() ? sized + beside(bias, y) : sized;
}

/// What shares its first `rows` axes together, to mean 0 and variance 1.
Tensor normalized_rows(const Tensor& x, int rows, double eps) {
  const Tensor flat = x.dim() == rows ? unsqueeze(x, -1) : flatten(x, rows, -1);
  return reshape(layer_norm(flat, {type_of(flat).shape.back()}, Tensor(), Tensor(), eps), type_of(x).shape);
}

struct RunningStatistics {
  const char* op;
  const Tensor &mean, &variance;
  double momentum;

  void check(const Tensor& x) const {
    if (mean.defined() != variance.defined())
      raise<ValueError>(std::string(op) +
                        ": only one of running mean and running variance is given; pass both or neither");
    require_one_per_channel(op, "running mean", mean, x);
    require_one_per_channel(op, "running variance", variance, x);
    if (!given()) return;
    require_real_floating(op, mean);
    require_real_floating(op, variance);
  }
  bool given() const { return mean.defined(); }

  /// Moves them towards the statistics of all examples together.
  void follow_batch(const Tensor& x) const {
    const Tensor rows = flatten(movedim(x, 1, 0), 1, -1).detach();  // [channels, …]
    follow(x, rows.mean(1), var(rows, 1));
  }
  /// Moves them towards the means of the examples' own statistics.
  void follow_examples(const Tensor& x) const {
    const Tensor rows = flatten(x, 2, -1).detach();  // [batch, channels, …]
    follow(x, rows.mean(2).mean(0), var(rows, 2).mean(0));
  }

 private:
  /// Both, or, where one may not be written, none; they have no derivative.
  void follow(const Tensor& x, const Tensor& of_mean, const Tensor& of_variance) const {
    require_writable(x.detach());
    const Tensor new_mean = conform(lerp(mean, of_mean, momentum), type_of(mean), op);
    const Tensor new_variance = conform(lerp(variance, of_variance, momentum), type_of(variance), op);
    check_write(mean, read(new_mean, op), op);
    check_write(variance, read(new_variance, op), op);
    mean.copy_(new_mean);
    variance.copy_(new_variance);
  }

  void require_writable(const Tensor& x) const {
    const Interpreter* vmap = vmap_that_forbids(mean, read(x, op));
    if (!vmap) vmap = vmap_that_forbids(variance, read(x, op));
    if (vmap)
      raise<TransformError>(std::string(op) + ": the input has one value per example of " + transform_text(vmap) +
                            ", the running statistics " + type_text(mean) +
                            ", which training updates in place, have one for all; map them too, pass undefined tensors "
                            "for them, or use group_norm");
  }
};

Tensor by_given_statistics(const Tensor& x, const Tensor& mean, const Tensor& variance, double eps) {
  return (x - beside(mean, x)) * beside(rsqrt(variance + eps), x);
}

}  // namespace

namespace ops {

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var) {
  return batch_norm(x, running_mean, running_var, Tensor(), Tensor(), false);
}
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training) {
  return batch_norm(x, running_mean, running_var, weight, bias, training, default_momentum, default_eps);
}
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps) {
  const RunningStatistics running{"batch_norm", running_mean, running_var, momentum};
  require_channels("batch_norm", x);
  require_one_per_channel("batch_norm", "weight", weight, x);
  require_one_per_channel("batch_norm", "bias", bias, x);
  running.check(x);
  if (!training) {
    if (!running.given())
      raise<ValueError>(
          "batch_norm: outside training the running statistics are needed; pass them, or training = true");
    return scaled(by_given_statistics(x, running_mean, running_var, eps), weight, bias);
  }
  const Tensor channels_first = movedim(x, 1, 0);
  const Size elements = type_of(x).shape.numel();
  if (elements != 0 && elements == channels_of(x))
    raise<ValueError>("batch_norm: in training each channel needs more than one value, the input is " + type_text(x));
  if (running.given() && elements != 0) running.follow_batch(x);
  return scaled(movedim(normalized_rows(channels_first, 1, eps), 0, 1), weight, bias);
}

Tensor group_norm(const Tensor& x, Size groups) { return group_norm(x, groups, Tensor(), Tensor()); }
Tensor group_norm(const Tensor& x, Size groups, const Tensor& weight, const Tensor& bias) {
  return group_norm(x, groups, weight, bias, default_eps);
}
Tensor group_norm(const Tensor& x, Size groups, const Tensor& weight, const Tensor& bias, double eps) {
  require_channels("group_norm", x);
  const Size channels = channels_of(x);
  if (groups < 1 || channels / groups * groups != channels)
    raise<ValueError>("group_norm: " + std::to_string(groups.hint()) + " groups do not divide the " +
                      count_of(channels.hint(), "channel", "channels") + " of the input " + type_text(x));
  require_one_per_channel("group_norm", "weight", weight, x);
  require_one_per_channel("group_norm", "bias", bias, x);
  Shape grouped = type_of(x).shape;
  grouped[1] = channels / groups;
  grouped.insert(1, groups);
  return scaled(reshape(normalized_rows(reshape(x, grouped), 2, eps), type_of(x).shape), weight, bias);
}

Tensor instance_norm(const Tensor& x) { return instance_norm(x, Tensor(), Tensor(), Tensor(), Tensor()); }
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias) {
  return instance_norm(x, running_mean, running_var, weight, bias, true);
}
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats) {
  return instance_norm(x, running_mean, running_var, weight, bias, use_input_stats, default_momentum, default_eps);
}
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats, double momentum, double eps) {
  const RunningStatistics running{"instance_norm", running_mean, running_var, momentum};
  require_channels("instance_norm", x);
  require_one_per_channel("instance_norm", "weight", weight, x);
  require_one_per_channel("instance_norm", "bias", bias, x);
  running.check(x);
  if (!use_input_stats) {
    if (!running.given())
      raise<ValueError>(
          "instance_norm: without the input's statistics the running ones are needed; pass them, or "
          "use_input_stats = true");
    return scaled(by_given_statistics(x, running_mean, running_var, eps), weight, bias);
  }
  const Size elements = type_of(x).shape.numel();
  if (elements != 0 && elements == type_of(x).shape[0] * channels_of(x))
    raise<ValueError>("instance_norm: each channel of an example needs more than one value, the input is " +
                      type_text(x));
  if (running.given() && elements != 0) running.follow_examples(x);
  return scaled(normalized_rows(x, 2, eps), weight, bias);
}

}  // namespace ops
}  // namespace ricci
