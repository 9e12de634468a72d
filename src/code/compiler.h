// LLVM's compiler and linker: modules into code. Knows nothing of plans.
#pragma once

#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/code.h"

namespace ricci::compiled {

/// Memory with the code and the data of one module, as far from each other as in the image: code reaches data by near
/// addresses.
class Sections : public llvm::RTDyldMemoryManager {
 public:
  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(std::uintptr_t code, llvm::Align, std::uintptr_t read, llvm::Align,
                              std::uintptr_t written, llvm::Align) override;
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) override;
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef, bool) override;
  bool finalizeMemory(std::string*) override { return false; }
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}  // code throws nothing
  void deregisterEHFrames() override {}

  std::size_t code_bytes() const { return code_bytes_; }
  std::string bytes() const { return {reinterpret_cast<const char*>(memory_.get()), next_data_}; }
  /// Where the linker put something.
  std::uint64_t offset(std::uint64_t address) const { return address - reinterpret_cast<std::uint64_t>(memory_.get()); }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::size_t code_bytes_ = 0;  // the code comes first
  std::size_t next_code_ = 0, next_data_ = 0;
};

/// Holds an object of LLVM, which is built without exceptions: where memory runs out inside LLVM, its objects are in no
/// state to be destroyed, and stay.
template <class T>
class Held {
 public:
  template <class... Args>
  explicit Held(Args&&... args) : object_(new T(std::forward<Args>(args)...)) {}
  Held(const Held&) = delete;
  ~Held() {
    if (std::uncaught_exceptions() == before_) delete object_;
  }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  int before_ = std::uncaught_exceptions();
  T* object_;
};

/// The target and the layout of data that modules are made for. Gives what is wrong, or an empty text.
std::string prepare(llvm::Module& module, const Machine& machine);
/// Fills in the image's code, or its error. `functions`: the names of the image's functions; an empty one is not
/// needed.
/// Requires: the module is prepared and verifies. Several threads may call it, each with a module in a context of its
/// own.
void put_code(llvm::Module& module, const Machine& machine, const std::vector<std::string>& functions, Image& image);
/// The module as an object file. Requires: as put_code.
void write_object(llvm::Module& module, const Machine& machine, ObjectFile& file);

}  // namespace ricci::compiled
