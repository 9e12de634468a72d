// LLVM's compiler and linker of this process: modules into code in memory. Knows nothing of plans.
#pragma once

#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/IR/Module.h>

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "compile/code.h"

namespace ricci::compiled {

/// Pages with the code and the constants of one module, side by side, so that code reaches constants by near addresses.
class Pages : public llvm::RTDyldMemoryManager {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  ~Pages() override;

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(std::uintptr_t code, llvm::Align, std::uintptr_t read, llvm::Align,
                              std::uintptr_t written, llvm::Align) override;
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef) override;
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned, llvm::StringRef, bool) override;
  bool finalizeMemory(std::string* error) override;
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}  // code throws nothing
  void deregisterEHFrames() override {}

 private:
  std::uint8_t* memory_ = nullptr;
  std::size_t bytes_ = 0, code_bytes_ = 0;  // the code's pages come first
  std::size_t next_code_ = 0, next_data_ = 0;
};

/// A module as code.
struct MachineCode {
  std::unique_ptr<Pages> pages;
  std::map<std::string, std::uint64_t> addresses;  ///< of functions that are not the module's own
  std::string error;                               ///< not empty: there is no code

  std::uint64_t address(const std::string& name) const { return name.empty() ? 0 : addresses.at(name); }
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
/// Requires: the module is prepared and verifies. Several threads may call it, each with a module in a context of its
/// own.
MachineCode machine_code(llvm::Module& module, const Machine& machine);
/// The module as an object file. Requires: as machine_code.
void write_object(llvm::Module& module, const Machine& machine, ObjectFile& file);

}  // namespace ricci::compiled
