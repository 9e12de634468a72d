// Model predictive control: a motor too weak to lift a pendulum at once swings it up and holds it. In each turn of the
// control loop the controller improves a plan of torques by a few steps of iterative LQR: it follows the plan through
// the model, linearises the model along the way, and solves the linear problem by Riccati's recursion. The controller,
// loops included, is exported as text in C that needs nothing of this library. Where there is a C compiler, the text is
// compiled and gives the torque of each turn too. The program prints where the pendulum is, and fails unless that is
// upright at the end and both torques agree.
#include <dlfcn.h>
#include <ricci/ricci.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace rc = ricci;
using rc::Tensor;

namespace {

constexpr std::int64_t horizon = 40, improvements = 3, turns = 120;
constexpr double seconds = 0.05, strongest = 4, gravity = 9.81, pi = std::numbers::pi;

/// The state, [angle from upright, speed], one turn later. The motor gives strongest * tanh(u).
Tensor moved(const Tensor& state, const Tensor& u) {
  const Tensor speed = state[1] + seconds * (gravity * sin(state[0]) + strongest * tanh(u));
  return rc::stack({state[0] + seconds * speed, speed});
}

/// What a turn costs is the square of this: [4].
Tensor deviation(const Tensor& state, const Tensor& u) {
  return rc::stack({2 * sin(state[0] / 2), 0.1 * state[1], 0.05 * u, 0.5 * (1 - cos(state[0]))});
}

/// The states [horizon, 2] before each torque of the plan.
Tensor followed(const Tensor& start, const Tensor& plan) {
  const auto step = [](const Tensor& state, const Tensor& u) { return std::pair{moved(state, u), state}; };
  return rc::scan(step, start, plan).second;
}

struct Slopes {
  Tensor of_state, of_u;              // of the next state: [2,2], [2]
  Tensor error;                       // [4]
  Tensor error_of_state, error_of_u;  // [4,2], [4]
};

/// A better plan: Gauss and Newton's step, which `followed` backwards in time gives, with a weight on large changes.
Tensor improved(const Tensor& start, const Tensor& plan) {
  const Tensor states = followed(start, plan);
  const Slopes slopes = rc::vmap([](const Tensor& x, const Tensor& u) {
    const auto [a, b] = rc::jacfwd<0, 1>(moved)(x, u);
    const auto [c, d] = rc::jacfwd<0, 1>(deviation)(x, u);
    return Slopes{a, b, deviation(x, u), c, d};
  })(states, plan);
  struct Value {  // the cost from here on: slope · x + x · curvature x / 2
    Tensor slope, curvature;
  };
  const auto back = [](const Value& v, const Slopes& s) {
    const Tensor later = matmul(v.curvature, s.of_state), of_u = matmul(v.curvature, s.of_u);
    const Tensor q_x = matmul(s.error, s.error_of_state) + matmul(v.slope, s.of_state);
    const Tensor q_u = (s.error * s.error_of_u).sum() + (v.slope * s.of_u).sum();
    const Tensor q_xx = matmul(s.error_of_state.t(), s.error_of_state) + matmul(s.of_state.t(), later);
    const Tensor q_uu = (s.error_of_u * s.error_of_u).sum() + (s.of_u * of_u).sum() + 1e-2;
    const Tensor q_ux = matmul(s.error_of_u, s.error_of_state) + matmul(s.of_u, later);
    const Tensor change = -q_u / q_uu, gain = -q_ux / q_uu;
    const Value before{q_x + q_u * gain, q_xx + rc::outer(gain, q_ux)};
    return std::pair{before, std::pair{change, gain}};
  };
  const Value none{rc::zeros({2}, rc::float64), rc::zeros({2, 2}, rc::float64)};
  const auto [first, changes] = rc::scan(back, none, slopes, {.reverse = true});
  const auto forth = [](const Tensor& x, const std::tuple<Tensor, Tensor, Tensor, Tensor>& at) {
    const auto& [was, u, change, gain] = at;
    const Tensor better = clamp(u + clamp(change + (gain * (x - was)).sum(), -1, 1), -3, 3);
    return std::pair{moved(x, better), better};
  };
  return rc::scan(forth, start, std::tuple{states, plan, changes.first, changes.second}).second;
}

/// The torque to give now, and the plan for the next turn.
std::pair<Tensor, Tensor> control(const Tensor& state, const Tensor& plan) {
  const auto improve = [&](const Tensor&, const Tensor& p) { return improved(state, p); };
  const Tensor better = rc::fori_loop(0, improvements, improve, plan);
  return {better[0], rc::cat({better.slice(0, 1, horizon), better.slice(0, horizon - 1, horizon)}, 0)};
}

/// A new folder, which goes with this object: two programs that run at once have two.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "pendulum_control_XXXXXX").string();

  Folder() {
    if (!mkdtemp(path.data())) throw std::runtime_error("no folder can be made as " + path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

using InC = int(const double* state, const double* plan, double* u, double* next);

/// The exported text, compiled and loaded; null if there is no C compiler.
InC* compiled_in_c(const std::string& folder) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) return nullptr;
  std::ofstream(folder + "/call.c") << "#include \"pendulum_controller.h\"\n"
                                       "static _Alignas(64) char workspace[PENDULUM_CONTROLLER_WORKSPACE_BYTES + 1];\n"
                                       "int call(const double *state, const double *plan, double *u, double *next) {\n"
                                       "  return pendulum_controller(state, plan, u, next, workspace);\n"
                                       "}\n";
  const std::string command = "cd '" + folder + "' && cc -O1 -ffp-contract=off -shared -fPIC -o controller.so "
                                                "call.c pendulum_controller.c -lm";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the C compiler refuses the controller");
  void* library = dlopen((folder + "/controller.so").c_str(), RTLD_NOW);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<InC*>(dlsym(library, "call"));
}

}  // namespace

int main() try {  // quick as it is: `--quick` changes nothing
  const auto controller = rc::compile(control);
  Tensor state = rc::tensor({pi, 0.}, rc::float64), plan = 0.1 * rc::ones({horizon}, rc::float64);
  const Folder folder;
  const std::string path = folder.path + "/pendulum_controller";
  rc::export_object(controller, path, {.target = "c"}, state, plan);
  std::printf("the controller in C: %ju bytes\n", static_cast<std::uintmax_t>(std::filesystem::file_size(path + ".c")));
  InC* const in_c = compiled_in_c(folder.path);

  double difference = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto [u, next] = controller(state, plan);
    if (in_c) {
      double torque = 0;
      std::array<double, horizon> next_in_c{};
      if (in_c(state.data<double>(), plan.data<double>(), &torque, next_in_c.data()) != 0)
        throw std::runtime_error("the controller in C fails");
      difference += std::abs(torque - u.item<double>());
    }
    state = moved(state, u);
    plan = next;
    if (turn % 20 == 19)
      std::printf("after %4.1f s: %6.3f from upright, %6.3f a second\n", static_cast<double>(turn + 1) * seconds,
                  state[0].item<double>(), state[1].item<double>());
  }
  if (in_c) std::printf("torques in C: in total the same but for %.0e\n", difference);
  else std::puts("torques in C: not computed, there is no C compiler `cc`");
  // C's sin and tanh round another way, and each turn's loops carry that on.
  const bool agrees = difference < 1e-6, is_upright = (abs(sin(state[0] / 2)) + abs(state[1])).item<double>() < 0.05;
  return agrees && is_upright ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pendulum_control: %s\n", error.what());
  return 1;
}
