// The 1,797 handwritten digits of data/digits.csv.gz as tensors: 8x8 pixels scaled to [0, 1] and a class 0..9.
// Every fifth row is for testing. Knows nothing of models.
#pragma once

#include <ricci/ricci.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace digits {

constexpr std::int64_t pixels = 64, classes = 10;

struct Examples {
  ricci::Tensor images;  // [n, 64] float32
  ricci::Tensor labels;  // [n] int64
};

struct Digits {
  Examples train, test;
};

namespace detail {

struct Rows {
  std::vector<float> images;
  std::vector<std::int64_t> labels;

  /// Adds one line: 64 pixel values 0..16, then the label.
  void add(const char* line) {
    for (int i = 0; i < pixels + 1; ++i) {
      char* end = nullptr;
      const long value = std::strtol(line, &end, 10);
      if (end == line) throw std::runtime_error("digits: a line has fewer than 65 numbers");
      if (i < pixels) images.push_back(static_cast<float>(value) / 16.0F);
      else labels.push_back(value);
      line = *end == ',' ? end + 1 : end;
    }
  }

  Examples tensors() const { return {ricci::tensor(images).view({-1, pixels}), ricci::tensor(labels)}; }
};

}  // namespace detail

/// Reads the gzipped CSV; std::runtime_error if it is not there or not as expected.
inline Digits read(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("digits: cannot open " + path);
  detail::Rows train, test;
  std::array<char, 1024> line{};
  for (int row = 0; gzgets(file.get(), line.data(), static_cast<int>(line.size())); ++row) {
    (row % 5 == 0 ? test : train).add(line.data());
  }
  if (train.labels.empty()) throw std::runtime_error("digits: nothing to read in " + path);
  return {train.tensors(), test.tensors()};
}

}  // namespace digits
