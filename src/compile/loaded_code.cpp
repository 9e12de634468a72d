// Memory that is written, and then executed.
#include "compile/loaded_code.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <stdexcept>

namespace ricci::compiled {

LoadedCode::LoadedCode(const Image& image, const AddressOf& address_of) : LoadedCode() {
  bytes_ = image.bytes.size();
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = memory;
  std::memcpy(memory_, image.bytes.data(), bytes_);
  for (const Image::Hole& hole : image.holes) {
    const void* const address = address_of(hole.callee);
    std::memcpy(static_cast<std::byte*>(memory_) + hole.offset, &address, sizeof address);
  }
  if (mprotect(memory_, image.code_bytes, PROT_READ | PROT_EXEC) != 0)
    throw std::runtime_error("the system does not let memory be executed");
}

LoadedCode::~LoadedCode() {
  if (memory_) munmap(memory_, bytes_);
}

}  // namespace ricci::compiled
