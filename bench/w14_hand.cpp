// W14: the Jacobian of ADBench's hand tracker, in float64: a chain of 22 bones, turned by 26 angles, carries a skin of
// 544 vertices. The inputs are ADBench's, one more by RICCI_BENCH_ADBENCH (adbench.h).
#include "w14_hand.h"

#include <filesystem>
#include <utility>

#include "cases.h"

namespace rc = ricci;
using bench::adbench::Hand;

namespace {

bench::Case case_of(const std::string& name, const std::filesystem::path& file) {
  const auto simple = [file] {
    const Hand hand = bench::adbench::read_hand(file);
    return bench::call(rc::jacfwd(bench::hand::simple_residual(hand)), hand.theta);
  };
  const auto complicated = [file] {
    const Hand hand = bench::adbench::read_hand(file);
    return bench::call(bench::hand::complicated_jacobian(hand), hand.theta, hand.places,
                       bench::hand::direction(hand, 1, 0), bench::hand::direction(hand, 0, 1));
  };
  const std::string folder = file.parent_path().filename().string();
  bench::Case one =
      bench::adbench::is_complicated(file) ? bench::make_case(name, complicated) : bench::make_case(name, simple);
  one.reference = "hand/" + folder + "/" + file.filename().string() + "/jacobian_colmajor";
  return one;
}

}  // namespace

std::vector<bench::Case> bench::hand_tracking() {
  const std::filesystem::path folder = adbench::folder() / "hand";
  std::vector<Case> cases{
      case_of("W14/simple_small_hand6", folder / "simple_small/hand6_t26_c1600.txt"),
      case_of("W14/complicated_small_hand6", folder / "complicated_small/hand6_t26_c1600.txt"),
  };
  if (const std::filesystem::path file = adbench::file_of_user("hand"); !file.empty())
    cases.push_back(case_of("W14/" + file.parent_path().filename().string() + "_" + file.stem().string(), file));
  return within(1e-8, std::move(cases));
}
