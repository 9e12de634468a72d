// Trains the classifier of private_digits with the samples of each batch shared out to the ranks of an MPI program:
// `mpirun -np 4 private_digits_on_ranks`. Each rank makes and clips the gradients of its samples; their sum over ranks
// is one call. Clipped gradients are added up as whole numbers, which have one sum in any order: every number of ranks
// trains the same model, to the last bit. Start with `clipped_sums`.
#include <ricci/mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "digit_classifier.h"
#include "gaussian_accountant.h"
#include "support/command_line.h"

namespace rc = ricci;
using digits::Mlp;
using rc::Tensor;

namespace {

/// A unit is the smallest part of a gradient that counts: 2^-40 of the clipping norm. 2^23 samples fit into an int64.
constexpr double units = 0x1p40;

/// One sample's gradient, scaled to norm at most 1, in units.
Mlp clipped_gradient(const Mlp& mlp, const Tensor& x, const Tensor& y, double clip) {
  const Mlp gradient = rc::grad(digits::loss)(mlp, x, y);
  const Tensor scale = rc::clamp_max(1 / rc::tree_norm(gradient), 1 / clip);
  return rc::map_leaves(
      [&scale](const Tensor& g) { return (g.to(rc::float64) * scale.to(rc::float64) * units).round().to(rc::int64); },
      gradient);
}

/// The sum of the clipped gradients of a batch, of which each rank works on a block of the samples.
Mlp clipped_sums(const Mlp& mlp, const Tensor& x, const Tensor& y, double clip, const rc::mpi::World& world) {
  const auto one = [clip](const Mlp& m, const Tensor& x, const Tensor& y) { return clipped_gradient(m, x, y, clip); };
  const auto each_sample = rc::mpi::vmap(one, {.in_dims = {rc::none, 0, 0}, .results = rc::mpi::my_rows}, world);
  const Mlp mine = rc::map_leaves([](const Tensor& rows) { return rows.sum(0); }, each_sample(mlp, x, y));
  const Mlp sums = rc::mpi::sum(mine, world);
  return rc::map_leaves([clip](const Tensor& s) { return (s.to(rc::float64) * (clip / units)).to(rc::float32); }, sums);
}

struct Settings {
  std::string data = RICCI_DATA_DIR "/digits.csv.gz";
  double epochs = 40, rate = 0.5, noise = 2, clip = 1, delta = 1e-5;
  std::int64_t batch = 128, width = 128;
  std::uint64_t seed = 0;
  bool quick = false;
};

/// A sum of all bits of the parameters: two models that differ anywhere hardly share it.
std::uint64_t fingerprint(const Mlp& mlp) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const Tensor& p : rc::leaves(mlp))
    for (const float value : p.to_vector<float>()) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3U;
    }
  return hash;
}

void run(const Settings& settings, const rc::mpi::World& world) {
  const digits::Digits data = digits::read(settings.data);
  const std::int64_t examples = data.train.labels.size(0);
  const double probability = static_cast<double>(settings.batch) / static_cast<double>(examples);
  rc::Generator random(settings.seed);  // the same on every rank: so are batches, noise and model
  Mlp mlp = digits::make_mlp(settings.width, random);
  const auto steps = std::max<std::int64_t>(1, std::llround(settings.epochs / probability));
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Tensor chosen = digits::sample_batch(examples, probability, random);
    const Tensor x = data.train.images.index_select(0, chosen), y = data.train.labels.index_select(0, chosen);
    const Mlp sums = clipped_sums(mlp, x, y, settings.clip, world);
    mlp = digits::noisy_step(mlp, sums, settings.rate / static_cast<double>(settings.batch),
                             settings.noise * settings.clip, random);
  }
  if (world.rank() != 0) return;
  std::printf("test accuracy  %.4f\n", digits::accuracy(mlp, data.test));
  std::printf("epsilon        %.3f at delta %g\n",
              accountant::epsilon(probability, settings.noise, static_cast<double>(steps), settings.delta),
              settings.delta);
  std::printf("model          %016llx\n", static_cast<unsigned long long>(fingerprint(mlp)));
}

}  // namespace

int main(int argc, char** argv) {
  rc::mpi::Session session(argc, argv);
  Settings settings;
  CommandLine line("Trains a network on handwritten digits with differential privacy, on the ranks of an MPI program.");
  line.option("--epochs", settings.epochs, "expected passes over the training set");
  line.option("--batch", settings.batch, "expected samples in a step");
  line.option("--rate", settings.rate, "learning rate");
  line.option("--noise", settings.noise, "noise, in units of the clipping norm");
  line.option("--clip", settings.clip, "largest norm of a sample's gradient");
  line.option("--width", settings.width, "hidden units");
  line.option("--seed", settings.seed, "same seed, same numbers");
  line.option("--data", settings.data, "the digits, as gzipped CSV");
  line.flag("--quick", settings.quick, "two epochs: a test that the program runs");
  if (const auto code = line.read(argc, argv)) return *code;
  if (settings.quick) settings.epochs = 2;
  run(settings, rc::mpi::World());
  return 0;
}
