// The context of an error: the nest of transforms, and the user's frame by a walk over the stack (libbacktrace).
#include "ricci/primitive/raise.h"

#include <backtrace.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "primitive/call_site.h"
#include "primitive/called.h"
#include "primitive/interpreter.h"
#include "tensor/symbols.h"

namespace ricci {
namespace {

const char* basename_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

backtrace_state* debug_information() {
  static backtrace_state* state = backtrace_create_state(nullptr, 0, [](void*, const char*, int) {}, nullptr);
  return state;
}

const void* module_of(const void* address) {
  Dl_info module;
  return dladdr(address, &module) ? module.dli_fbase : nullptr;
}

bool is_own_header(const char* file) { return std::strstr(file, "include/ricci/"); }

/// A frame of the library itself, of std, or of the C library, of which some bring their debug information.
bool is_foreign(std::uintptr_t pc, const char* file, const char* function) {
  static const void* const library = module_of(reinterpret_cast<const void*>(&module_of));
  static const void* const c_library = module_of(dlsym(RTLD_DEFAULT, "__libc_start_main"));
  const void* const module = module_of(reinterpret_cast<const void*>(pc));
  if (!file || module == library || module == c_library || std::strstr(file, "/include/c++/") || is_own_header(file))
    return true;
  return function && (std::strncmp(function, "_ZN5ricci", 9) == 0 || std::strncmp(function, "_ZNK5ricci", 10) == 0 ||
                      std::strncmp(function, "_ZSt", 4) == 0 || std::strncmp(function, "_ZNSt", 5) == 0);
}

struct Frame {
  char file[256] = "";
  int line = 0;
};

/// Called from C, through which no exception may pass: allocates nothing.
int visit_frame(void* data, std::uintptr_t pc, const char* file, int line, const char* function) {
  if (is_foreign(pc, file, function)) return 0;
  auto& frame = *static_cast<Frame*>(data);
  std::strncpy(frame.file, basename_of(file), sizeof frame.file - 1);
  frame.line = line;
  return 1;
}

void ignore(void*, const char*, int) {}

/// One walk at a time: what has been read of the debug information is shared.
std::mutex& one_walk() {
  static std::mutex mutex;
  return mutex;
}

std::string to_string(const Frame& frame) {
  return *frame.file ? std::string(frame.file) + ":" + std::to_string(frame.line) : std::string();
}

std::string place_of_user() {
  const std::lock_guard lock(one_walk());
  Frame frame;
  if (backtrace_state* state = debug_information()) backtrace_full(state, 1, visit_frame, ignore, &frame);
  return to_string(frame);
}

/// `reshape` of `ricci::ops::reshape(…)`; what stands for operators is said in words.
std::string name_of_function(const char* symbol) {
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), std::free);
  std::string name = plain ? plain.get() : "";
  const auto starts = [&](const char* start) { return name.starts_with(start); };
  const auto holds = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (starts("ricci::SymbolTable::") || starts("ricci::symbols::") || starts("ricci::Size::")) return "a use of a size";
  if (holds("::operator") && holds("ricci::Size") && !holds("Tensor::")) return "a use of a size";
  if (holds("Tensor::size(")) return "a use of a size";  // where the compiler has not inlined it
  if (holds("Tensor::operator[](")) return "index";
  name.resize(std::min(name.find_first_of("(<["), name.size()));
  name.erase(0, name.rfind(':') + 1);
  return name.empty() || holds("operator") ? "a call" : name;
}

thread_local constinit const BackwardPass* backward = nullptr;

/// Those that the user entered, the innermost first; one for which levels of two kinds stand is named once.
std::string nest() {
  std::string text;
  const auto add = [&text](const Entry& entry) {
    if (entry.name && !is_own_header(entry.file)) text += ", inside " + to_string(entry);
  };
  const BackwardPass* pass = backward;
  const auto add_passes_inside = [&](Level level) {
    for (; pass && pass->around >= level; pass = pass->outer) add(pass->entry);
  };
  const Interpreter* inner = nullptr;
  for (const Interpreter* i : whole_nest()) {
    add_passes_inside(i->level);
    const bool said = inner && inner->kind != i->kind && to_string(inner->entry) == to_string(i->entry);
    if (!said) add(i->entry);
    inner = i;
  }
  add_passes_inside(0);
  return text.empty() ? text : "\n  " + text.substr(2);
}

}  // namespace

CallSite CallSite::here() {
  struct Calls {
    std::array<std::uintptr_t, 1024> all;  // more are not looked at
    std::size_t count = 0;
  } calls;
  // Called from C, as `visit_frame` is.
  const auto note = [](void* data, std::uintptr_t call) {
    auto& noted = *static_cast<Calls*>(data);
    noted.all[noted.count++] = call;
    return noted.count == noted.all.size() ? 1 : 0;
  };
  if (backtrace_state* state = debug_information()) backtrace_simple(state, 1, note, ignore, &calls);
  CallSite site;
  site.calls_.assign(calls.all.begin(), calls.all.begin() + static_cast<std::ptrdiff_t>(calls.count));
  return site;
}

std::string CallSite::text() const {
  const std::lock_guard lock(one_walk());
  backtrace_state* const state = debug_information();
  std::uintptr_t callee = 0;
  for (const std::uintptr_t call : calls_) {
    Frame frame;
    if (state && backtrace_pcinfo(state, call, visit_frame, ignore, &frame) != 0) {
      const char* symbol = nullptr;
      const auto note = [](void* found, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
        *static_cast<const char**>(found) = name;
      };
      if (callee) backtrace_syminfo(state, callee, note, ignore, &symbol);
      return (symbol ? name_of_function(symbol) : "a call") + " (" + to_string(frame) + ")";
    }
    callee = call;
  }
  return {};
}

namespace {

/// Guards ask the user's calls, of which the layer that leaves them knows nothing.
[[maybe_unused]] const bool guards_know_their_calls = [] {
  origin_of_guards = [] { return std::function<std::string()>([site = CallSite::here()] { return site.text(); }); };
  return true;
}();

}  // namespace

BackwardPass::BackwardPass(const Entry& transform) : entry(transform), around(current_level()), outer(backward) {
  backward = this;
}
BackwardPass::~BackwardPass() { backward = outer; }

std::string at(const char* file, unsigned line) {
  return *file && !is_own_header(file) ? " (" + std::string(basename_of(file)) + ":" + std::to_string(line) + ")"
                                       : std::string();
}

std::string with_nest(const std::string& text) { return text + nest(); }

void require_defined(const char* op, const Tensor& x, int operand) {
  if (!x.defined())
    raise<ValueError>(std::string(op) + ": operand " + std::to_string(operand) +
                      " is an undefined Tensor; give it a value first");
}

thread_local constinit const char* Called::current_ = nullptr;

std::string Called::renamed(const std::string& text) {
  if (!current_) return text;
  const std::size_t end = text.find(": ");
  const std::string_view start(text.data(), end == std::string::npos ? 0 : end);
  const bool is_name = !start.empty() && start.find(' ') == std::string_view::npos;
  return current_ + (is_name ? text.substr(end) : ": " + text);
}

std::string with_context(const std::string& text) {
  const std::string place = place_of_user();
  return with_nest(Called::renamed(text)) + (place.empty() ? "" : "\n  at " + place);
}

}  // namespace ricci
