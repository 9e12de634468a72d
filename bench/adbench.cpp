// Reading ADBench's input files. Knows nothing of the objectives.
#include "adbench.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace rc = ricci;

namespace bench::adbench {
namespace {

namespace fs = std::filesystem;

std::ifstream open(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return in;
}

/// The numbers of a file, one after the other.
class Numbers {
 public:
  explicit Numbers(const fs::path& file) : file_(file) {
    std::ifstream in = open(file);
    numbers_.assign(std::istream_iterator<double>(in), {});
  }
  Tensor take(const rc::Shape& shape) {
    const auto count = static_cast<std::size_t>(shape.numel().host());
    if (numbers_.size() - at_ < count) throw std::runtime_error(file_.string() + " ends too early");
    const auto from = numbers_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += count;
    return rc::tensor(std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count))).reshape(shape);
  }
  std::int64_t count() { return static_cast<std::int64_t>(take({}).item()); }

 private:
  fs::path file_;
  std::vector<double> numbers_;
  std::size_t at_ = 0;
};

/// The fields of each line, which colons part.
std::vector<std::vector<std::string>> rows_of_fields(const fs::path& file) {
  std::ifstream in = open(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    std::istringstream fields(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string field; std::getline(fields, field, ':');) row.push_back(field);
  }
  return rows;
}

HandModel read_hand_model(const fs::path& folder) {
  HandModel model;
  std::vector<double> matrices, vertices;
  for (const auto& row : rows_of_fields(folder / "bones.txt")) {
    model.parents.push_back(std::stoi(row.at(1)));
    for (std::size_t i = 2; i < 34; ++i) matrices.push_back(std::stod(row.at(i)));
  }
  const auto bones = static_cast<std::int64_t>(model.parents.size());
  const Tensor both = rc::tensor(matrices).reshape({bones, 2, 4, 4});
  model.relative = both.select(1, 0).clone(), model.inverse = both.select(1, 1).clone();

  const auto rows = rows_of_fields(folder / "vertices.txt");
  const auto count = static_cast<std::int64_t>(rows.size());
  std::vector<double> weights(rows.size() * model.parents.size());
  for (std::size_t v = 0; v < rows.size(); ++v) {
    for (std::size_t i = 0; i < 3; ++i) vertices.push_back(std::stod(rows[v].at(i)));
    vertices.push_back(1);
    for (std::size_t pair = 0; pair < std::stoul(rows[v].at(8)); ++pair)
      weights.at(v * model.parents.size() + std::stoul(rows[v].at(9 + 2 * pair))) =
          std::stod(rows[v].at(10 + 2 * pair));
  }
  model.vertices = rc::tensor(vertices).reshape({count, 4});
  model.weights = rc::tensor(weights).reshape({count, bones});

  std::vector<std::int64_t> corners;
  for (const auto& row : rows_of_fields(folder / "triangles.txt"))
    for (std::size_t i = 0; i < 3; ++i) corners.push_back(std::stoll(row.at(i)));
  model.triangles = rc::tensor(corners).reshape({-1, 3});
  return model;
}

fs::path model_folder(const fs::path& file) {
  const fs::path own = file.parent_path() / "model";
  if (fs::exists(own)) return own;
  const bool big = file.parent_path().filename().string().ends_with("big");
  return file.parent_path().parent_path() / (big ? "model_big" : "model_small");
}

}  // namespace

fs::path folder() { return fs::path(RICCI_DATA_DIR) / "adbench"; }

fs::path file_of_user(const std::string& kind) {
  const char* const named = std::getenv("RICCI_BENCH_ADBENCH");
  if (!named) return {};
  const fs::path file = fs::absolute(named), parent = file.parent_path();
  return parent.filename() == kind || parent.parent_path().filename() == kind ? file : fs::path();
}

BundleAdjustment read_bundle_adjustment(const fs::path& file) {
  Numbers numbers(file);
  BundleAdjustment found{.cameras = numbers.count(), .points = numbers.count(), .observations = numbers.count()};
  found.camera = numbers.take({11}), found.point = numbers.take({3}), found.weight = numbers.take({});
  found.feature = numbers.take({2});
  return found;
}

Lstm read_lstm(const fs::path& file) {
  Numbers numbers(file);
  const std::int64_t layers = numbers.count(), characters = numbers.count(), bits = numbers.count();
  Lstm found{.main = numbers.take({2 * layers, 4 * bits}), .extra = numbers.take({3, bits})};
  found.state = numbers.take({2 * layers, bits}), found.sequence = numbers.take({characters, bits});
  return found;
}

bool is_complicated(const fs::path& hand) { return hand.string().find("complicated") != std::string::npos; }

Hand read_hand(const fs::path& file) {
  Hand hand{.model = read_hand_model(model_folder(file))};
  Numbers numbers(file);
  const std::int64_t count = numbers.count(), angles = numbers.count();
  const Tensor table = numbers.take({count, 4});
  hand.correspondences = table.select(1, 0).to(rc::int64);
  hand.points = table.slice(1, 1, 4).clone();
  if (is_complicated(file)) hand.places = numbers.take({count, 2});
  hand.theta = numbers.take({angles});
  return hand;
}

}  // namespace bench::adbench
