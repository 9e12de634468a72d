// The file is the length of its header in 8 bytes, the header in JSON, and the elements of all tensors, one after the
// other: {"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"made by": "…"}}
#include "io/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <vector>

namespace ricci::safetensors {
namespace {

using nlohmann::json;

constexpr std::uint64_t longest_header = 100'000'000;  // as the format's own library
constexpr std::size_t header_alignment = 8;
constexpr const char* metadata = "__metadata__";

struct Name {
  const char* name;
  DType dtype;
};
// In the order of the format's own library, which writes tensors by descending type, then by name.
constexpr Name names[] = {{"BOOL", DType::boolean}, {"U8", DType::uint8},    {"I8", DType::int8},
                          {"I16", DType::int16},    {"F16", DType::float16}, {"BF16", DType::bfloat16},
                          {"I32", DType::int32},    {"F32", DType::float32}, {"C64", DType::complex64},
                          {"F64", DType::float64},  {"I64", DType::int64}};

/// `tensor`: what it is called in the file.
const Name* name_of(const Type& type, const std::string& tensor) {
  for (const Name& name : names)
    if (name.dtype == type.dtype) return &name;
  raise_escaped<TypeError>("save_safetensors: " + tensor + " is " + to_string(type) + ", and the format has no " +
                           short_name(type.dtype) + "; convert it first, for example with x.to(rc::complex64)");
}

struct Entry {
  std::string name;
  Type type;
  std::uint64_t begin = 0, end = 0;
};

[[noreturn]] void damaged(const std::string& what, const std::string& found) {
  raise_escaped<ValueError>(what + " has a header that cannot be read: " + found + "; save it again");
}

std::uint64_t count_of(const json& number, const std::string& what, const std::string& where) {
  if (!number.is_number_unsigned()) {
    // Writing out a deep array would take more stack than there is.
    const std::string found = number.is_primitive() ? number.dump() : std::string("a JSON ") + number.type_name();
    damaged(what, where + " holds " + found + ", which is no size");
  }
  return number.get<std::uint64_t>();
}

Type type_of(const json& entry, const std::string& what, const std::string& name) {
  const auto dtype = entry.find("dtype"), shape = entry.find("shape");
  if (dtype == entry.end() || shape == entry.end() || !dtype->is_string() || !shape->is_array())
    damaged(what, name + " has no dtype and shape");
  Type type;
  const auto* known = std::find_if(std::begin(names), std::end(names),
                                   [&](const Name& n) { return dtype->get_ref<const std::string&>() == n.name; });
  if (known == std::end(names))
    raise_escaped<ValueError>(what + ": " + name + " has elements of type " + dtype->get<std::string>() +
                              ", which Ricci does not have; convert it before it is saved");
  type.dtype = known->dtype;
  for (const json& size : *shape) {
    const std::uint64_t count = count_of(size, what, name);
    if (count > INT64_MAX) damaged(what, name + " has a size of " + std::to_string(count));
    type.shape.push_back(static_cast<std::int64_t>(count));
  }
  return type;
}

Entry entry_of(const std::string& name, const json& description, const std::string& what) {
  if (!description.is_object()) damaged(what, name + " is no description of a tensor");
  Entry entry{name, type_of(description, what, name)};
  const auto offsets = description.find("data_offsets");
  if (offsets == description.end() || !offsets->is_array() || offsets->size() != 2)
    damaged(what, name + " has no data_offsets");
  entry.begin = count_of((*offsets)[0], what, name);
  entry.end = count_of((*offsets)[1], what, name);
  if (entry.end < entry.begin || entry.end - entry.begin != io::bytes_of(entry.type.shape, entry.type.dtype))
    damaged(what, name + " is " + to_string(entry.type) + ", and its data_offsets are [" + std::to_string(entry.begin) +
                      ", " + std::to_string(entry.end) + "]");
  return entry;
}

/// The tensors in the order of their elements, which follow each other without a gap up to the end of the file.
std::vector<Entry> read_header(io::Source& source, const std::string& what) {
  unsigned char start[8] = {};
  io::read_some(source, start, sizeof start, what);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | start[i];
  if (length > std::min(longest_header, source.left)) raise_escaped<ValueError>(what + " is no safetensors file");
  std::string text(length, ' ');
  io::read_some(source, text.data(), length, what);

  // A name that stands twice would silently be the last one.
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto note_keys = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event != json::parse_event_t::key) return true;
    const auto& key = parsed.get_ref<const std::string&>();
    if (!open.back().insert(key).second) twice = key;
    return true;
  };
  const json header = json::parse(text, note_keys, /*allow_exceptions=*/false);
  if (!header.is_object()) damaged(what, "it is not JSON");
  if (!twice.empty()) damaged(what, twice + " stands in it twice");

  std::vector<Entry> entries;
  for (const auto& [name, description] : header.items())
    if (name != metadata) entries.push_back(entry_of(name, description, what));
  std::sort(entries.begin(), entries.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.begin, one.end) < std::tie(other.begin, other.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) damaged(what, entry.name + " does not begin where the tensor before it ends");
    at = entry.end;
  }
  if (at > source.left) raise_escaped<ValueError>(what + " ends too early; save it again");
  if (at < source.left) damaged(what, "its tensors end before the file does");
  return entries;
}

struct Part {
  const Name* dtype;
  const std::string* name;
  ArrayRef array;
};

std::uint64_t bytes_of(const Part& part) { return io::bytes_of(part.array->type.shape, part.array->type.dtype); }

std::string quoted(const std::string& name) {
  io::require_utf8("save_safetensors", name);
  return json(name).dump();
}

}  // namespace

std::map<std::string, Tensor> load(io::Source source, const std::string& what) {
  std::map<std::string, Tensor> tensors;
  for (const Entry& entry : read_header(source, what))
    tensors[entry.name] = io::to_tensor(io::read_array(source, entry.type, what));
  return tensors;
}

void save(const std::map<std::string, Tensor>& tensors, const io::Sink& write) {
  std::vector<Part> parts;
  for (const auto& [name, tensor] : tensors) {
    if (name == metadata)
      raise_escaped<ValueError>("save_safetensors: no tensor can be named __metadata__; give it another name");
    ArrayRef array = io::row_major("save_safetensors", tensor);
    parts.push_back({name_of(array->type, name), &name, std::move(array)});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.dtype > b.dtype; });

  std::string header = "{";
  std::uint64_t at = 0;
  for (const Part& part : parts) {
    std::vector<std::int64_t> sizes;
    for (Size size : part.array->type.shape) sizes.push_back(size.host());
    const std::uint64_t end = at + bytes_of(part);
    const nlohmann::ordered_json description = {
        {"dtype", part.dtype->name}, {"shape", sizes}, {"data_offsets", {at, end}}};
    header += (header.size() > 1 ? "," : "") + quoted(*part.name) + ":" + description.dump();
    at = end;
  }
  header += '}';
  header.append((header_alignment - header.size() % header_alignment) % header_alignment, ' ');

  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  write(length, sizeof length);
  write(header.data(), header.size());
  for (const Part& part : parts) write(part.array->data, bytes_of(part));
}

}  // namespace ricci::safetensors
