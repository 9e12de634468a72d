// The header of a .npy file, a dictionary as Python writes it, and the elements behind it.
#include "io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "ricci/ops.h"

namespace ricci::npy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 20;

struct Header {
  std::string descr;  // `<f4`
  bool fortran_order = false;
  Shape shape;
};

struct Name {
  std::string_view descr;  // without byte order
  DType dtype;
};
constexpr Name names[] = {{"b1", DType::boolean},   {"u1", DType::uint8},      {"i1", DType::int8},
                          {"i2", DType::int16},     {"i4", DType::int32},      {"i8", DType::int64},
                          {"f2", DType::float16},   {"f4", DType::float32},    {"f8", DType::float64},
                          {"c8", DType::complex64}, {"c16", DType::complex128}};

/// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  Header read() {
    Header header;
    expect("{");
    while (!take("}")) {
      const std::string key = quoted();
      expect(":");
      if (key == "descr") header.descr = quoted();
      else if (key == "fortran_order") header.fortran_order = boolean();
      else if (key == "shape") header.shape = tuple();
      else damaged("it has a field '" + key + "'");
      take(",");
    }
    return header;
  }

 private:
  [[noreturn]] void damaged(const std::string& found) const {
    raise_escaped<ValueError>(what_ + " has a header that cannot be read: " + found + "; save it again");
  }
  bool take(std::string_view token) {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) damaged("'" + std::string(token) + "' is missing");
  }
  std::string quoted() {
    if (!take("'")) damaged("a name in quotes is missing");
    const std::string word(text_.substr(0, text_.find('\'')));
    text_.remove_prefix(word.size());
    expect("'");
    return word;
  }
  bool boolean() {
    if (take("True")) return true;
    expect("False");
    return false;
  }
  Shape tuple() {
    Shape shape;
    expect("(");
    while (!take(")")) {
      take("");
      std::int64_t size = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) damaged("a size is missing");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      shape.push_back(size);
      take(",");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& what_;
};

DType dtype_of_descr(const std::string& descr, const std::string& what) {
  for (const Name& name : names)
    if (descr.size() > 1 && std::string_view(descr).substr(1) == name.descr) return name.dtype;
  raise_escaped<ValueError>(what + " holds elements of type '" + descr +
                            "', which is not one of ours; convert it in NumPy first, for example with .astype('f4')");
}

/// Turns the bytes of each number.
void swap_bytes(void* data, std::uint64_t bytes, std::size_t number) {
  auto* at = static_cast<unsigned char*>(data);
  for (std::uint64_t i = 0; i < bytes; i += number) std::reverse(at + i, at + i + number);
}

Header read_header(io::Source& source, const std::string& what) {
  unsigned char start[12] = {};
  if (source.left < magic.size()) raise_escaped<ValueError>(what + " is no .npy file");
  io::read_some(source, start, magic.size(), what);
  if (std::memcmp(start, magic.data(), magic.size()) != 0) raise_escaped<ValueError>(what + " is no .npy file");
  io::read_some(source, start, 4, what);  // version, length of the rest of the header: 2 bytes in version 1, else 4
  std::uint64_t length = start[2] | static_cast<unsigned>(start[3]) << 8;
  if (start[0] < 1 || start[0] > 3)
    raise_escaped<ValueError>(what + " has version " + std::to_string(start[0]) +
                              " of the format; versions 1 to 3 can be read");
  if (start[0] > 1) {
    io::read_some(source, start, 2, what);
    length |= static_cast<std::uint64_t>(start[0]) << 16 | static_cast<std::uint64_t>(start[1]) << 24;
  }
  if (length > longest_header)
    raise_escaped<ValueError>(what + " has a header of " + std::to_string(length) + " bytes, which is too long");
  std::string text(length, ' ');
  io::read_some(source, text.data(), length, what);
  return HeaderReader(text, what).read();
}

char kind_of(DType dtype) { return element_size(dtype) == 1 ? '|' : '<'; }

std::string header_text(const Type& type, const char* op) {
  const auto* name =
      std::find_if(std::begin(names), std::end(names), [&](const Name& n) { return n.dtype == type.dtype; });
  if (name == std::end(names))
    raise_escaped<TypeError>(std::string(op) + ": NumPy has no " + short_name(type.dtype) + "; convert " +
                             to_string(type) + " first, for example with x.to(rc::float32)");
  std::string sizes;
  for (Size size : type.shape) sizes += std::to_string(size.host()) + ", ";
  if (type.rank() > 1) sizes.resize(sizes.size() - 2);
  else if (type.rank() == 1) sizes.pop_back();
  std::string text = "{'descr': '" + (kind_of(type.dtype) + std::string(name->descr)) +
                     "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const std::size_t start = magic.size() + 4;
  text.append(63 - (start + text.size()) % 64, ' ');  // the elements begin at a multiple of 64
  text += '\n';
  std::string header(magic);
  const char version_and_length[] = {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  header.append(version_and_length, 4);
  return header + text;
}

}  // namespace

Tensor load(io::Source source, const std::string& what) {
  const Header header = read_header(source, what);
  const DType dtype = dtype_of_descr(header.descr, what);
  Shape shape = header.shape;
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  io::require_bytes(source, {dtype, header.shape}, what);
  const ArrayRef array = io::read_array(source, {dtype, shape}, what);
  const std::size_t number = element_size(dtype) / (is_complex(dtype) ? 2 : 1);
  if (header.descr[0] == '>') swap_bytes(array->data, io::bytes_of(shape, dtype), number);

  const Tensor stored = io::to_tensor(array);
  if (!header.fortran_order || shape.size() < 2) return stored;
  Axes backwards;
  for (auto axis = static_cast<std::int64_t>(shape.size()); axis-- > 0;) backwards.push_back(axis);
  return clone(permute(stored, backwards));
}

void save(const Tensor& tensor, const char* op, const io::Sink& write) {
  const ArrayRef array = io::row_major(op, tensor);
  const std::string header = header_text(array->type, op);
  write(header.data(), header.size());
  write(array->data, io::bytes_of(array->type.shape, array->type.dtype));
}

}  // namespace ricci::npy
