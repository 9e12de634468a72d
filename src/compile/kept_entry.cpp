// The format: numbers as they lie in memory, then the bytes of the image.
#include "compile/kept_entry.h"

#include <cstring>

namespace ricci::compiled {
namespace {

constexpr std::string_view format = "Ricci code 1\n";

class EntryWriter {
 public:
  std::string bytes{format};
  template <class T>
  EntryWriter& add(T x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
    return *this;
  }
};

/// Reads what `entry_of` wrote.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  template <class T>
  T take() {
    T x{};
    if (left_.size() < sizeof x) is_whole_ = false;
    else std::memcpy(&x, left_.data(), sizeof x), left_.remove_prefix(sizeof x);
    return x;
  }
  /// How many things of so many bytes follow.
  std::size_t take_count(std::size_t bytes_of_one) {
    const auto count = take<std::size_t>();
    if (count > left_.size() / bytes_of_one) is_whole_ = false;
    return is_whole_ ? count : 0;
  }
  bool is_whole() const { return is_whole_; }
  std::string_view left() const { return left_; }

 private:
  std::string_view left_;
  bool is_whole_ = true;
};

}  // namespace

std::string entry_of(const Image& image) {
  EntryWriter to;
  to.add(image.code_bytes).add(image.holes.size()).add(image.functions.size());
  for (const auto& [callee, offset] : image.holes)
    to.add(callee.what).add(callee.word).add(callee.dtype).add(callee.kernel).add(callee.stage).add(offset);
  for (const std::int64_t offset : image.functions) to.add(offset);
  return to.add(image.bytes.size()).bytes + image.bytes;
}

std::optional<Image> image_in(std::string_view bytes) {
  if (!bytes.starts_with(format)) return std::nullopt;
  Reader from(bytes.substr(format.size()));
  Image image;
  image.code_bytes = from.take<std::uint64_t>();
  const auto holes = from.take<std::size_t>(), functions = from.take<std::size_t>();
  for (std::size_t k = 0; k < holes && from.is_whole(); ++k) {
    Image::Hole& hole = image.holes.emplace_back();
    hole.callee.what = from.take<Callee::What>();
    hole.callee.word = from.take<Word>();
    hole.callee.dtype = from.take<DType>();
    hole.callee.kernel = from.take<std::int32_t>();
    hole.callee.stage = from.take<std::int32_t>();
    hole.offset = from.take<std::uint64_t>();
  }
  for (std::size_t k = 0; k < functions && from.is_whole(); ++k) image.functions.push_back(from.take<std::int64_t>());
  const std::size_t size = from.take_count(1);
  if (!from.is_whole() || from.left().size() != size || size == 0) return std::nullopt;
  image.bytes = from.left();
  image.is_for_all_processes = true;
  return image;
}

}  // namespace ricci::compiled
