// Losses over classes: cross entropy and negative log-likelihood. The axis of classes is 0 where the input has one
// axis, else 1.
#include "interpreters/batch.h"
#include "kernels/reduce.h"
#include "ops/axes.h"
#include "ops/dense.h"
#include "ops/exponential_sums.h"
#include "ops/indexing.h"
#include "ops/losses.h"
#include "ops/reading.h"
#include "ops/sums.h"
#include "primitive/called.h"
#include "ricci/ops/losses.h"

namespace ricci {
namespace {

/// -log softmax(x)[class] along the last axis. The inputs: x [..., classes], integers [...].
struct CrossEntropy {
  using kind = Explicit;
  static constexpr const char* name = "cross_entropy";
  static constexpr unsigned keeps = input(0) | input(1);

  Type type(const Type& x, const Type& target) const {
    require_real(name, x);
    require_floating(name, x);
    require_rank_of_at_least(1, x);
    const Shape rows(x.shape.begin(), x.shape.end() - 1);
    require_shape(target.shape, rows);
    return {x.dtype, rows};
  }
  void eval(Outputs out, Inputs in) const {
    const Strided &x = in[0], &target = in[1];
    const ArrayRef logs = array_like(x, x.dtype), classes = array_like(target, DType::int64);
    kernels::log_softmax(logs->strided(), x, x.rank - 1);
    kernels::copy(classes->strided(), target);
    visit_dtype(x.dtype, [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (is_floating(dtype_of<T>))
        pick(static_cast<T*>(out[0].data), static_cast<const T*>(logs->data),
             static_cast<const std::int64_t*>(classes->data), classes->type.shape, x.shape[x.rank - 1]);
    });
  }
  /// Σ softmax(x) (t - t[class]): near a probability of 1, what the others have is more than what is left of 1.
  Tensors jvp(const Forward& f) const {
    const Tensor& t = f.tangents[0];
    return {sum(softmax(f.inputs[0], -1) * (t - gather(t, -1, unsqueeze(f.inputs[1], -1))), -1)};
  }
  /// ct softmax(x), and for the class itself minus the sum of the others, since its probability less 1 has few digits.
  Tensors vjp(const Reverse& r) const {
    const Tensor ct = unsqueeze(r.cotangents[0], -1), place = unsqueeze(r.inputs[1], -1);
    const Tensor others = scatter(softmax(r.inputs[0], -1), -1, place, 0);
    return {scatter(others, -1, place, neg(sum(others, {-1}, true))) * ct, Tensor()};
  }
  Scalar element(ElementWriter& y) const {
    return y.type(0).dtype == DType::float64 ? element_in<double>(y) : element_in<float>(y);
  }
  CrossEntropy lifted() const { return {}; }
  static std::vector<Sample<CrossEntropy>> samples() {
    const auto x = [](Shape shape) { return rand(shape) * 4 - 2; };
    return {{{}, {x({3}), full({}, 1, DType::int64)}},
            {{}, {x({4, 3}), tensor({2, 0, 1, 2})}},
            {{}, {x({2, 2, 1}), zeros({2, 2}, DType::int64)}},
            {{}, {x({0, 3}), zeros({0}, DType::int64)}}};
  }

 private:
  /// The logarithm of softmax for the element that the class names.
  template <class E>
  static Scalar element_in(ElementWriter& y) {
    constexpr std::int64_t most_classes = 64;
    const std::int64_t count = y.known_size(0, y.type(0).rank() - 1);
    if (count == 0 || count > most_classes) return no_scalar;
    std::vector<Coordinate> where = y.coordinates(y.type(1).rank());
    const Whole target = Whole::at(this_thread.scalars->converted(DType::int64, y.element_of(1, where), false));
    const Whole place = named(y, {name, {}, {}, false}, target, y.size(0, y.type(1).rank())).value();
    where.emplace_back(0);
    Elements<Typed<E>> row{{count}, {}};
    std::vector<std::int64_t> places;
    for (std::int64_t c = 0; c < count; ++c) {
      where.back() = c;
      row.of.push_back(Typed<E>::at(this_thread.scalars->converted(dtype_of<E>, y.element_of(0, where), false)));
      places.push_back(c);
    }
    const SumOfExponentials<Typed<E>> s(row, places, [](const Typed<E>& most) { return most; });
    Typed<E> picked = row.of[0];
    for (std::int64_t c = 1; c < count; ++c)
      picked = scalar::select(scalar::equal(place, Whole(c)), row.of[static_cast<std::size_t>(c)], picked);
    const Typed<E> loss = -((picked - s.subtracted) - scalar::log(s.sum));
    return this_thread.scalars->converted(y.type(0).dtype, loss.scalar(), false);
  }
  template <class T>
  static void pick(T* out, const T* logs, const std::int64_t* classes, const Shape& shape, std::int64_t count) {
    const std::int64_t rows = shape.numel();
    const auto place_of = [&shape](std::int64_t row) {
      const Vmaps vmaps = vmaps_of_kernel(shape);
      return vmaps.empty() ? "" : place_text(row, shape, vmaps);
    };
    for (std::int64_t i = 0; i < rows; ++i) {
      if (classes[i] < 0 || classes[i] >= count)
        raise<IndexError>("cross_entropy: class " + std::to_string(classes[i]) + place_of(i) + " is out of range for " +
                          count_of(count, "class", "classes") + "; " + legal_range(0, count - 1));
      out[i] = T(-logs[i * count + classes[i]]);
    }
  }
};

/// The axis of classes; throws unless there is one.
std::int64_t class_axis(const char* op, const Tensor& input) {
  require_real_floating(op, input);
  const int rank = type_of(input).rank();
  if (rank == 0)
    raise<ValueError>(std::string(op) + ": the input " + type_text(input) +
                      " has no axis of classes; it must be [C], [N, C] or [N, C, …]");
  return rank == 1 ? 0 : 1;
}

/// The classes as int64, one for each element of the input without its axis of classes.
Tensor checked_classes(const char* op, const Tensor& input, std::int64_t axis, const Tensor& target) {
  Shape shape = type_of(input).shape;
  shape.erase(static_cast<std::size_t>(axis));
  const Type type = type_of(target);
  if (!is_integral(type.dtype) || type.dtype == DType::boolean)
    raise<TypeError>(std::string(op) + ": the target " + type_text(target) +
                     " holds no classes; convert it first, for example with x.to(rc::int64)");
  if (!(type.shape == shape))
    raise<ValueError>(std::string(op) + ": the input " + type_text(input) + " takes classes of shape " +
                      to_string(shape) + ", found " + type_text(target) +
                      "; reshape the target, or move the input's axis of classes to " + std::to_string(axis) +
                      " with movedim");
  return type.dtype == DType::int64 ? target : to(target, DType::int64);
}

/// What the target says of the examples.
struct Targets {
  Tensor classes;  // those that are ignored stand as 0
  Tensor counts;   // boolean, which are not ignored; undefined: all count
  Tensor weights;  // of the examples; undefined: 1 where they count
};

/// Where no value says otherwise, an example may be ignored. Outside recordings the classes are looked at: an operation
/// that ignores none is the one without options.
bool may_ignore(const char* op, const Tensor& classes, std::int64_t ignored) {
  const AllExamples all = elements_of_all_examples(op, classes);
  return !all.elements || first_place(all.elements->strided(), [&](std::int64_t c) { return c == ignored; }) >= 0;
}

/// Throws unless `weight` is undefined or [C].
void require_class_weights(const char* op, const Tensor& input, std::int64_t axis, const Tensor& weight) {
  if (!weight.defined()) return;
  const Size classes = type_of(input).shape[at(axis)];
  if (type_of(weight).rank() != 1 || !(type_of(weight).shape[0] == classes))
    raise<ValueError>(std::string(op) + ": the weight " + type_text(weight) + " must have one number for each of the " +
                      count_of(classes.hint(), "class", "classes") + " of " + type_text(input) +
                      "; pass one of shape [" + std::to_string(classes.hint()) + "]");
}

Targets targets_of(const char* op, const Tensor& target, const Tensor& weight, std::int64_t ignored) {
  Targets all{target, {}, {}};
  if (may_ignore(op, target, ignored)) {
    all.counts = ne(target, ignored);
    all.classes = where(all.counts, target, 0);
  }
  if (!weight.defined()) return all;
  all.weights = reshape(index_select(weight, 0, flatten(all.classes)), type_of(all.classes).shape);
  if (all.counts.defined()) all.weights = where(all.counts, all.weights, 0);
  return all;
}

/// Losses of examples, those that are ignored set to 0 and the mean taken of the others, by their weights.
Tensor reduced(const Tensor& losses, const Targets& targets, Reduction reduction) {
  if (!targets.counts.defined() && !targets.weights.defined()) return ricci::reduced(losses, reduction);
  if (reduction != Reduction::mean) return ricci::reduced(losses, reduction);
  const DType dtype = type_of(losses).dtype;
  return sum(losses) / sum(to(targets.weights.defined() ? targets.weights : targets.counts, dtype));
}

/// 0 for the examples that are ignored.
Tensor counted(const Tensor& losses, const Targets& targets) {
  return targets.counts.defined() ? where(targets.counts, losses, 0) : losses;
}

/// -weight[class] log p[class].
Tensor picked(const Tensor& log_probabilities, std::int64_t axis, const Targets& targets) {
  const Tensor of_class = gather(log_probabilities, axis, unsqueeze(targets.classes, axis));
  const Tensor losses = counted(neg(squeeze(of_class, axis)), targets);
  return targets.weights.defined() ? weighed(targets.weights, losses) : losses;
}

/// The weights of classes, shaped to broadcast along the axis of classes.
Tensor along_classes(const Tensor& weight, std::int64_t axis, const Tensor& input) {
  Shape shape = Shape::filled(static_cast<std::size_t>(type_of(input).rank()), 1);
  shape[at(axis)] = type_of(weight).shape[0];
  return reshape(weight, shape);
}

/// Against classes that give e of their probability to all classes evenly.
Tensor smoothed_cross_entropy(const Tensor& input, std::int64_t axis, const Targets& targets,
                              const CrossEntropyOptions& options) {
  const Tensor logs = log_softmax(input, axis);
  const Tensor weighted = options.weight.defined() ? weighed(along_classes(options.weight, axis, input), logs) : logs;
  const Tensor of_all = counted(neg(mean(weighted, axis)), targets);
  const double e = options.label_smoothing;
  return reduced(weighed(1 - e, picked(logs, axis, targets)) + of_all * e, targets, options.reduction);
}

/// Against probabilities: -Σ w p log softmax(x) over the classes.
Tensor cross_entropy_of_probabilities(const Tensor& input, std::int64_t axis, const Tensor& target,
                                      const CrossEntropyOptions& options) {
  if (!(type_of(target).shape == type_of(input).shape))
    raise<ValueError>("cross_entropy: the input " + type_text(input) +
                      " takes probabilities of its own shape or integer classes, found " + type_text(target) +
                      "; reshape the probabilities, or convert classes, for example with x.to(rc::int64)");
  const double e = options.label_smoothing;
  Tensor p = target;
  if (e > 0) p = target * (1 - e) + e / Tensor(type_of(input).shape[at(axis)]);
  Tensor terms = weighed(p, log_softmax(input, axis));
  if (options.weight.defined()) terms = weighed(along_classes(options.weight, axis, input), terms);
  return ricci::reduced(neg(sum(terms, axis)), options.reduction);
}

}  // namespace

namespace ops {

Tensor cross_entropy(const Tensor& input, const Tensor& target) {
  return cross_entropy(input, target, CrossEntropyOptions{});
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, Reduction reduction) {
  return cross_entropy(input, target, CrossEntropyOptions{.reduction = reduction});
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, CrossEntropyOptions options) {
  const Called as("cross_entropy", input, target);
  const std::int64_t axis = class_axis("cross_entropy", input);
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    raise<ValueError>("cross_entropy: label_smoothing is " + std::to_string(options.label_smoothing) +
                      "; it must be between 0 and 1");
  require_class_weights("cross_entropy", input, axis, options.weight);
  if (is_floating(type_of(target).dtype)) return cross_entropy_of_probabilities(input, axis, target, options);
  const Tensor classes = checked_classes("cross_entropy", input, axis, target);
  const Targets targets = targets_of("cross_entropy", classes, options.weight, options.ignore_index);
  if (options.label_smoothing > 0) return smoothed_cross_entropy(input, axis, targets, options);
  const bool classes_last = type_of(input).rank() <= 2;
  const Tensor logits = classes_last ? input : movedim(input, axis, -1);
  const Tensor losses = counted(apply(CrossEntropy{}, logits, targets.classes), targets);
  return reduced(targets.weights.defined() ? weighed(targets.weights, losses) : losses, targets, options.reduction);
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target) {
  return nll_loss(log_probabilities, target, NllLossOptions{});
}
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, Reduction reduction) {
  return nll_loss(log_probabilities, target, NllLossOptions{.reduction = reduction});
}
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, NllLossOptions options) {
  const Called as("nll_loss", log_probabilities, target);
  const std::int64_t axis = class_axis("nll_loss", log_probabilities);
  require_class_weights("nll_loss", log_probabilities, axis, options.weight);
  const Tensor classes = checked_classes("nll_loss", log_probabilities, axis, target);
  const Targets targets = targets_of("nll_loss", classes, options.weight, options.ignore_index);
  return reduced(picked(log_probabilities, axis, targets), targets, options.reduction);
}

Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target) {
  return linear_cross_entropy(input, linear_weight, target, {}, {});
}
Tensor linear_cross_entropy(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                            const Tensor& linear_bias, CrossEntropyOptions options) {
  const Called as("linear_cross_entropy", input, linear_weight, target);
  return cross_entropy(linear(input, linear_weight, linear_bias), target, options);
}

}  // namespace ops
}  // namespace ricci
