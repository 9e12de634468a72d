// .npy files, .npz archives of them, and .safetensors files. Archives are read and written by libzip.
#include <zip.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "io/npy.h"
#include "io/safetensors.h"
#include "ricci/io.h"

namespace ricci {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using File = std::unique_ptr<std::FILE, Close>;
using Entry = std::unique_ptr<zip_file_t, Close>;
using Archive = std::unique_ptr<zip_t, Close>;

[[noreturn]] void raise_file(const std::string& op, const char* what, const std::string& path, const std::string& why) {
  raise_escaped<ValueError>(op + ": cannot " + what + " " + path + ": " + why);
}

File open_file(const char* op, const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) raise_file(op, *mode == 'r' ? "read" : "write", path, std::strerror(errno));
  return file;
}

/// Calls load with what the file holds. `op` is the operation errors speak of.
template <class Load>
auto load_file(const char* op, const std::string& path, Load load) {
  const File file = open_file(op, path, "rb");
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) raise_file(op, "read", path, error.message());
  const auto read = [&](void* to, std::uint64_t bytes) {
    if (std::fread(to, 1, bytes, file.get()) != bytes) raise_file(op, "read", path, "it ends too early");
  };
  return load(io::Source{size, read}, std::string(op) + ": " + path);
}

/// Calls save with a sink that replaces the file, from the first bytes on: what cannot be saved leaves it as it was.
template <class Save>
void save_file(const char* op, const std::string& path, Save save) {
  File file;
  save([&](const void* from, std::uint64_t bytes) {
    if (!file) file = open_file(op, path, "wb");
    if (std::fwrite(from, 1, bytes, file.get()) != bytes) raise_file(op, "write", path, std::strerror(errno));
  });
  if (std::fclose(file.release()) != 0) raise_file(op, "write", path, std::strerror(errno));
}

Archive open_archive(const char* op, const std::string& path, int flags) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  raise_file(op, flags & ZIP_RDONLY ? "read" : "write", path, why);
}

Tensor load_entry(zip_t* archive, zip_uint64_t index, const std::string& path) {
  zip_stat_t entry;
  const Entry file(zip_fopen_index(archive, index, 0));
  if (!file || zip_stat_index(archive, index, 0, &entry) != 0)
    raise_file("load_npz", "read", path, zip_strerror(archive));
  const auto read = [&](void* to, std::uint64_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const zip_int64_t n = zip_fread(file.get(), at, bytes);
      if (n <= 0) raise_file("load_npz", "read", path, zip_file_strerror(file.get()));
      at += n;
      bytes -= static_cast<std::uint64_t>(n);
    }
  };
  Tensor tensor = npy::load({entry.size, read}, "load_npz: " + path + ", " + entry.name);
  // At its end the library compares what was read with the checksum in the file.
  std::array<char, 64> rest;
  zip_int64_t n = 1;
  while (n > 0) n = zip_fread(file.get(), rest.data(), rest.size());
  if (n < 0) raise_file("load_npz", "read", path, std::string(entry.name) + ": " + zip_file_strerror(file.get()));
  return tensor;
}

}  // namespace

Tensor load_npy(const std::string& path) { return load_file("load_npy", path, npy::load); }

void save_npy(const std::string& path, const Tensor& tensor) {
  save_file("save_npy", path, [&](const io::Sink& write) { npy::save(tensor, "save_npy", write); });
}

std::map<std::string, Tensor> load_safetensors(const std::string& path) {
  return load_file("load_safetensors", path, safetensors::load);
}

void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  save_file("save_safetensors", path, [&](const io::Sink& write) { safetensors::save(tensors, write); });
}

std::map<std::string, Tensor> load_npz(const std::string& path) {
  const Archive archive = open_archive("load_npz", path, ZIP_RDONLY);
  std::map<std::string, Tensor> tensors;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    std::string name = zip_get_name(archive.get(), index, 0);
    if (!name.ends_with(".npy")) continue;
    name.resize(name.size() - 4);
    tensors[name] = load_entry(archive.get(), index, path);
  }
  return tensors;
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  std::vector<std::string> contents;  // libzip reads them when it closes the archive
  for (const auto& [name, tensor] : tensors) {
    io::require_utf8("save_npz", name);
    if (name.find('\0') != std::string::npos)
      raise_escaped<ValueError>("save_npz: the name '" + std::string(name.c_str()) +
                                "…' holds a zero byte, which an archive's names cannot; give the tensor another one");
    std::string& bytes = contents.emplace_back();
    npy::save(tensor, "save_npz",
              [&](const void* from, std::uint64_t n) { bytes.append(static_cast<const char*>(from), n); });
  }
  if (tensors.empty()) {  // of which libzip would leave no file
    const char end_of_directory[22] = {'P', 'K', 5, 6};
    return save_file("save_npz", path,
                     [&](const io::Sink& write) { write(end_of_directory, sizeof end_of_directory); });
  }
  Archive archive = open_archive("save_npz", path, ZIP_CREATE | ZIP_TRUNCATE);
  std::size_t next = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string& bytes = contents[next++];
    zip_source_t* source = zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source ? zip_file_add(archive.get(), (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      zip_source_free(source);
      raise_file("save_npz", "write", path, zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);  // as numpy.savez
  }
  if (zip_close(archive.get()) != 0) raise_file("save_npz", "write", path, zip_strerror(archive.get()));
  archive.release();
}

}  // namespace ricci
