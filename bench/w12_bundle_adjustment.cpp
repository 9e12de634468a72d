// W12: the sparse Jacobian of bundle adjustment, in float64: the small dense block of each observation, by vmap of the
// derivative of one observation's residual. The inputs are ADBench's, one more by RICCI_BENCH_ADBENCH (adbench.h).
#include "w12_bundle_adjustment.h"

#include <utility>

#include "adbench.h"
#include "cases.h"

namespace rc = ricci;

std::vector<bench::Case> bench::bundle_adjustment() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto jacobian, const auto& problem, const std::string& reference) {
    cases.push_back(
        beside_loop(make_case(name, [=] { return call(values_by(jacobian), observations(problem())); }),
                    [=] { return [o = observations(problem())] { return bundle_adjustment_by_hand(o); }; }));
    cases.back().reference = reference;
  };
  const auto add_file = [&](const std::string& name, const std::filesystem::path& file) {
    const auto problem = [file] { return adbench::read_bundle_adjustment(file); };
    const std::string reference = "ba/" + file.filename().string() + "/J_vals";
    add(name + "_jacrev", rc::jacrev(residual), problem, reference);
    add(name + "_jacfwd", rc::jacfwd(residual), problem, reference);
  };
  const std::filesystem::path folder = adbench::folder() / "ba", ba1 = folder / "ba1_n49_m7776_p31843.txt";
  add_file("W12/test", folder / "test.txt");
  add_file("W12/ba1", ba1);
  add_file("W12/ba5", folder / "ba5_n257_m65132_p225911.txt");
  const auto size_of_ba10 = [ba1] {
    adbench::BundleAdjustment b = adbench::read_bundle_adjustment(ba1);
    b.cameras = 1197, b.points = 126327, b.observations = 563734;
    return b;
  };
  add("W12/p563734_synth_jacrev", rc::jacrev(residual), size_of_ba10, "");
  if (const std::filesystem::path file = adbench::file_of_user("ba"); !file.empty())
    add_file("W12/" + file.stem().string(), file);
  return within(1e-8, std::move(cases));
}
