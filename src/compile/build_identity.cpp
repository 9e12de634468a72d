// The build ID that the linker wrote into the program or library that this code is part of, the file of the generator,
// and what the system says of the processor.
#include "compile/build_identity.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

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

/// What the system says of the first processor, but for its clock. Empty where it says nothing.
std::string processor() {
  std::ifstream all("/proc/cpuinfo");
  std::string line, told;
  while (std::getline(all, line) && !line.empty())
    if (!line.starts_with("cpu MHz") && !line.starts_with("BogoMIPS") && !line.starts_with("bogomips"))
      told += line + "\n";
  return told;
}

}  // namespace

std::string build_identity() {
  Search search{reinterpret_cast<std::uintptr_t>(&build_identity), {}};
  dl_iterate_phdr(&look_into, &search);
  const std::string runs_on = processor();
  struct stat generator{};
  if (search.id.empty() || runs_on.empty() || stat(generator_path().c_str(), &generator) != 0) return {};
  const auto& written = generator.st_mtim;
  return search.id + " " + std::to_string(generator.st_size) + " " + std::to_string(written.tv_sec) + " " +
         std::to_string(written.tv_nsec) + "\n" + runs_on;
}

}  // namespace ricci::compiled
