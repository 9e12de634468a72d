// Trains a small network on handwritten digits with differential privacy (DP-SGD: Abadi et al., "Deep Learning with
// Differential Privacy", 2016): every sample's gradient is clipped to one norm, noise is added to their sum, and an
// accountant says what the result reveals. `--noise 0 --clip inf` is ordinary SGD. Start with `clipped_gradients`.
//
// The noise comes from a seeded generator, so that a run can be repeated; a release would need a secret seed.
#include <ricci/ricci.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

#include "digit_classifier.h"
#include "gaussian_accountant.h"
#include "support/command_line.h"

namespace rc = ricci;
using digits::Mlp;
using rc::Tensor;

namespace {

// ── one private step ──

struct Clipped {
  Mlp gradients;  // summed over the samples, each scaled to norm at most `clip`
  Tensor losses;  // [batch]
};

/// All samples at once: `loss` is written for one sample, vmap gives every parameter's gradient a leading batch axis.
Clipped clipped_gradients(const Mlp& mlp, const Tensor& x, const Tensor& y, double clip) {
  const auto each_sample = rc::vmap(rc::value_and_grad(digits::loss), {.in_dims = {rc::none, 0, 0}});
  const auto [losses, gradients] = each_sample(mlp, x, y);
  Tensor squared_norms = rc::zeros_like(losses);
  for (const Tensor& g : rc::leaves(gradients)) squared_norms = squared_norms + g.square().flatten(1, -1).sum(1);
  const Tensor scale = rc::clamp_max(clip / squared_norms.sqrt(), 1.0);  // [batch]
  return {rc::map_leaves([&scale](const Tensor& g) { return rc::tensordot(scale, g, 1); }, gradients), losses};
}

/// The same, one sample after another: what the line with vmap replaces.
Clipped clipped_gradients_by_loop(const Mlp& mlp, const Tensor& x, const Tensor& y, double clip) {
  Clipped result{rc::map_leaves([](const Tensor& p) { return rc::zeros_like(p); }, mlp), rc::zeros({x.size(0)})};
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    const auto [value, gradients] = rc::value_and_grad(digits::loss)(mlp, x[i], y[i]);
    Tensor squared_norm = 0.0;
    for (const Tensor& g : rc::leaves(gradients)) squared_norm = squared_norm + g.square().sum();
    const Tensor scale = rc::clamp_max(clip / squared_norm.sqrt(), 1.0);
    result.gradients = rc::map_leaves([&scale](const Tensor& sum, const Tensor& g) { return sum + scale * g; },
                                      result.gradients, gradients);
    result.losses[i] = value;
  }
  return result;
}

struct Settings {
  std::string data = RICCI_DATA_DIR "/digits.csv.gz", save;
  double epochs = 40, rate = 0.5, noise = 2, clip = 1, delta = 1e-5, at_least = 0;
  std::int64_t batch = 128, width = 128;
  std::uint64_t seed = 0;
  bool quick = false;
};

Mlp updated(const Mlp& mlp, const Mlp& gradients, const Settings& settings, rc::Generator& random) {
  const double spread = settings.noise > 0 ? settings.noise * settings.clip : 0;
  return digits::noisy_step(mlp, gradients, settings.rate / static_cast<double>(settings.batch), spread, random);
}

double sampling_probability(const Settings& settings, const digits::Examples& data) {
  return static_cast<double>(settings.batch) / static_cast<double>(data.labels.size(0));
}

// ── the run ──

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Redraws one line on a terminal. (Plain output: Debian 12 packages no progress bar for C++.)
void show_progress(std::int64_t done, std::int64_t steps, double mean_loss) {
  if (!isatty(STDERR_FILENO)) return;
  const int width = 40, filled = static_cast<int>(width * done / steps);
  std::fprintf(stderr, "\r[%s%s] step %ld/%ld  loss %.3f%s", std::string(filled, '#').c_str(),
               std::string(width - filled, '.').c_str(), static_cast<long>(done), static_cast<long>(steps), mean_loss,
               done == steps ? "\n" : "");
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("required: ") + what);
}

struct Trained {
  Mlp mlp;
  std::int64_t steps = 0, samples = 0;
  double seconds = 0;
};

Trained train(const digits::Examples& data, const Settings& settings) {
  rc::Generator random(settings.seed);
  const std::int64_t examples = data.labels.size(0);
  const double probability = sampling_probability(settings, data);
  Trained result{digits::make_mlp(settings.width, random)};
  result.steps = std::max<std::int64_t>(1, std::llround(settings.epochs / probability));
  for (std::int64_t step = 1; step <= result.steps; ++step) {
    const double start = seconds();
    const Tensor chosen = digits::sample_batch(examples, probability, random);
    const Tensor x = data.images.index_select(0, chosen), y = data.labels.index_select(0, chosen);
    const Clipped clipped = clipped_gradients(result.mlp, x, y, settings.clip);
    result.mlp = updated(result.mlp, clipped.gradients, settings, random);
    result.seconds += seconds() - start;
    result.samples += chosen.size(0);
    const double mean_loss = chosen.size(0) > 0 ? clipped.losses.mean().item<double>() : 0;
    require(std::isfinite(mean_loss), "the loss stays finite; a smaller --rate may help");
    show_progress(step, result.steps, mean_loss);
  }
  return result;
}

/// Seconds of the fastest of `runs` calls.
template <class F>
double fastest(int runs, F call) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const double start = seconds();
    call();
    best = std::min(best, seconds() - start);
  }
  return best;
}

/// How many times faster vmap makes the gradients of one batch. Requires that both ways agree.
double speedup_over_loop(const Mlp& mlp, const digits::Examples& data, const Settings& settings) {
  const Tensor x = data.images.slice(0, 0, settings.batch), y = data.labels.slice(0, 0, settings.batch);
  Clipped mapped, looped;
  const double with_vmap = fastest(5, [&] { mapped = clipped_gradients(mlp, x, y, settings.clip); });
  const double with_loop = fastest(3, [&] { looped = clipped_gradients_by_loop(mlp, x, y, settings.clip); });
  const std::vector<Tensor> ours = rc::leaves(mapped), theirs = rc::leaves(looped);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // Both sum some hundred float32 terms, in different orders.
    require(rc::allclose(ours[i], theirs[i], 1e-3, 1e-4), "vmap and the loop give the same gradients");
  }
  return with_loop / with_vmap;
}

void run(const Settings& settings) {
  require(accountant::agrees_with_published_value(), "the accountant reproduces a published epsilon");
  const digits::Digits data = digits::read(settings.data);
  require(settings.batch >= 1 && settings.batch <= data.train.labels.size(0), "--batch is a part of the training set");
  const Trained trained = train(data.train, settings);
  for (const Tensor& p : rc::leaves(trained.mlp)) require(bool(rc::isfinite(p).all()), "all parameters are finite");

  const double correct = digits::accuracy(trained.mlp, data.test);
  const double epsilon = accountant::epsilon(sampling_probability(settings, data.train), settings.noise,
                                             static_cast<double>(trained.steps), settings.delta);
  std::printf("test accuracy      %.4f\n", correct);
  std::printf("epsilon            %.3f at delta %g\n", epsilon, settings.delta);
  std::printf("samples a second   %.0f\n", static_cast<double>(trained.samples) / trained.seconds);
  std::printf("vmap over a loop   %.1f times faster\n", speedup_over_loop(trained.mlp, data.train, settings));
  if (!settings.save.empty()) rc::save_npz(settings.save, rc::named_leaves(trained.mlp));
  require(correct >= settings.at_least, "the test accuracy is at least --at-least");
}

}  // namespace

int main(int argc, char** argv) try {
  Settings settings;
  CommandLine line("Trains a network on handwritten digits with differential privacy.");
  line.option("--epochs", settings.epochs, "expected passes over the training set");
  line.option("--batch", settings.batch, "expected samples in a step");
  line.option("--rate", settings.rate, "learning rate");
  line.option("--noise", settings.noise, "noise, in units of the clipping norm");
  line.option("--clip", settings.clip, "largest norm of a sample's gradient; inf for none");
  line.option("--delta", settings.delta, "where epsilon is reported");
  line.option("--width", settings.width, "hidden units");
  line.option("--seed", settings.seed, "same seed, same numbers");
  line.option("--data", settings.data, "the digits, as gzipped CSV");
  line.option("--at-least", settings.at_least, "fail below this test accuracy");
  line.option("--save", settings.save, "writes the parameters to this .npz file");
  line.flag("--quick", settings.quick, "two epochs: a test that the program runs");
  if (const auto code = line.read(argc, argv)) return *code;
  if (settings.quick) settings.epochs = 2;
  require(settings.noise <= 0 || std::isfinite(settings.clip), "noise needs a finite --clip to be measured in");
  run(settings);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "private_digits: %s\n", error.what());
  return 1;
}
