// The build IDs that the linker wrote into the program or library that this code is part of, and into the generator,
// and what the system says of the processor.
#include "compile/build_identity.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <fstream>

#include "compile/generator.h"

namespace ricci::compiled {
namespace {

struct Search {
  std::uintptr_t inside;  // an address of the object that is looked for
  std::string id;
};

/// The build ID among the notes of a segment.
std::string id_in(const char* notes, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(notes);
    const auto padded = [](std::size_t n) { return (n + 3) / 4 * 4; };
    const std::size_t all = sizeof *note + padded(note->n_namesz) + padded(note->n_descsz);
    if (all > bytes) break;
    const char* const name = notes + sizeof *note;
    if (note->n_type == NT_GNU_BUILD_ID && std::string(name, note->n_namesz) == std::string("GNU", 4))
      return {name + padded(note->n_namesz), note->n_descsz};
    notes += all, bytes -= all;
  }
  return {};
}

int look_into(dl_phdr_info* object, std::size_t, void* found) {
  auto& search = *static_cast<Search*>(found);
  const auto is_inside = [&](const ElfW(Phdr) & part) {
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && begin <= search.inside && search.inside < begin + part.p_memsz;
  };
  bool is_it = false;
  for (int k = 0; k < object->dlpi_phnum; ++k) is_it = is_it || is_inside(object->dlpi_phdr[k]);
  if (!is_it) return 0;
  for (int k = 0; k < object->dlpi_phnum && search.id.empty(); ++k) {
    const ElfW(Phdr)& part = object->dlpi_phdr[k];
    if (part.p_type == PT_NOTE)
      search.id = id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

/// The build ID of a file, which is not loaded. Programs that change a library, such as patchelf, may move its notes to
/// the end.
std::string id_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto reads = [&](std::size_t from, void* to, std::size_t bytes) {
    file.seekg(static_cast<std::streamoff>(from));
    return static_cast<bool>(file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)));
  };
  ElfW(Ehdr) all{};
  if (!reads(0, &all, sizeof all)) return {};
  for (std::size_t k = 0; k < all.e_phnum; ++k) {
    constexpr std::size_t most_bytes = 16'384;
    ElfW(Phdr) part{};
    if (!reads(all.e_phoff + k * sizeof part, &part, sizeof part)) break;
    if (part.p_type != PT_NOTE || part.p_filesz > most_bytes) continue;
    std::string notes(part.p_filesz, '\0');
    if (!reads(part.p_offset, notes.data(), notes.size())) break;
    if (std::string id = id_in(notes.data(), notes.size()); !id.empty()) return id;
  }
  return {};
}

/// What the system says of the first processor's kind. Empty where it says nothing.
std::string processor() {
  std::ifstream all("/proc/cpuinfo");
  std::string line, told;
  while (std::getline(all, line) && !line.empty())
    for (const char* of_kind : {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features"})
      if (line.starts_with(of_kind)) told += line + "\n";
  return told;
}

}  // namespace

std::string build_identity() {
  Search search{reinterpret_cast<std::uintptr_t>(&build_identity), {}};
  dl_iterate_phdr(&look_into, &search);
  const std::string generator = id_of(generator_path()), runs_on = processor();
  if (search.id.empty() || generator.empty() || runs_on.empty()) return {};
  return search.id + generator + "\n" + runs_on;
}

}  // namespace ricci::compiled
