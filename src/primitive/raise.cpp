// The context of an error: the nest of transforms, and the user's frame by a walk over the stack (libbacktrace).
#include "ricci/primitive/raise.h"

#include <backtrace.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "primitive/call_site.h"
#include "primitive/called.h"
#include "primitive/interpreter.h"
#include "primitive/origin.h"
#include "ricci/caller.h"
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

void ignore(void*, const char*, int) {}

/// Where the module lies that an address belongs to. By the unwinder's own table: dladdr goes through all symbols of a
/// module, which takes 4 us for each frame.
const void* module_of(std::uintptr_t address) {
  dl_find_object module;
  return _dl_find_object(reinterpret_cast<void*>(address), &module) == 0 ? module.dlfo_map_start : nullptr;
}

constexpr std::string_view folder_of_sources(std::string_view path_of_this_file) {
  return path_of_this_file.substr(0, path_of_this_file.size() - std::string_view("primitive/raise.cpp").size());
}

/// The folder of the library's sources, as the compiler spells it in `__FILE__` and std::source_location.
constexpr std::string_view own_sources() { return folder_of_sources(__FILE__); }

/// The same, as libbacktrace spells it where no function is inlined: clang writes a relative path in full there.
/// Requires: nobody else walks.
std::string_view own_sources_in_full() {
  static const std::string path = [] {
    std::string found = __FILE__;
    const auto note = [](void* data, std::uintptr_t, const char* file, int, const char*) {
      const std::string_view path = file ? file : "";
      if (path.ends_with("primitive/raise.cpp")) *static_cast<std::string*>(data) = path;
      return 0;
    };
    if (backtrace_state* const state = debug_information())
      backtrace_pcinfo(state, reinterpret_cast<std::uintptr_t>(&debug_information), note, ignore, &found);
    return std::string(folder_of_sources(found));
  }();
  return path;
}

bool is_own_header(const char* file) { return std::strstr(file, "include/ricci/"); }

/// Whether the library itself calls a transform in this file. The folders are named: with relative paths, `../src/` may
/// be the beginning of a user's too.
bool is_own_file(std::string_view file) {
  if (is_own_header(file.data())) return true;
  if (!file.starts_with(own_sources())) return false;
  file.remove_prefix(own_sources().size());
  return file.starts_with("custom/") || file.starts_with("control/");
}

/// Some C libraries bring their debug information.
bool is_in_c_library(std::uintptr_t pc) {
  static const void* const c_library =
      module_of(reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "__libc_start_main")));
  return module_of(pc) == c_library;
}

/// A frame of the library itself or of std. The module tells nothing: a user's may hold the library.
bool is_foreign(const char* file, const char* function) {
  if (!file || std::strstr(file, "/include/c++/") || is_own_header(file)) return true;
  const std::string_view path = file, name = function ? function : "";
  if (path.starts_with(own_sources()) || path.starts_with(own_sources_in_full())) return true;
  constexpr std::string_view own_and_std[] = {"_ZN5ricci", "_ZNK5ricci", "_ZSt", "_ZNSt"};
  return std::ranges::any_of(own_and_std, [&](std::string_view start) { return name.starts_with(start); });
}

struct Frame {
  char file[256] = "";
  int line = 0;
};

/// Called from C, through which no exception may pass: allocates nothing.
int visit_frame(void* data, std::uintptr_t, const char* file, int line, const char* function) {
  if (is_foreign(file, function)) return 0;
  auto& frame = *static_cast<Frame*>(data);
  std::strncpy(frame.file, basename_of(file), sizeof frame.file - 1);
  frame.line = line;
  return 1;
}

/// Finds the frame of the user's at a call; 0 if it is foreign.
int find_frame(backtrace_state* state, std::uintptr_t call, Frame& frame) {
  own_sources_in_full();  // found before the walk, in which `visit_frame` may not allocate
  return is_in_c_library(call) ? 0 : backtrace_pcinfo(state, call, visit_frame, ignore, &frame);
}

/// One walk at a time: what has been read of the debug information is shared.
std::mutex& one_walk() {
  static std::mutex mutex;
  return mutex;
}

std::string to_string(const Frame& frame) {
  return *frame.file ? std::string(frame.file) + ":" + std::to_string(frame.line) : std::string();
}

CallerPlace caller_place = nullptr;  // set once, when a binding is loaded

std::string place_of_user() {
  for (const RunningEquation* run = this_thread.equation; run; run = run->outer)
    if (run->origin && run->origin->site.is_known()) return run->origin->site.place();
  if (caller_place) return caller_place();
  const std::lock_guard lock(one_walk());
  Frame frame;
  const auto visit_call = [](void* data, std::uintptr_t call) {
    return find_frame(debug_information(), call, *static_cast<Frame*>(data));
  };
  if (backtrace_state* state = debug_information()) backtrace_simple(state, 1, visit_call, ignore, &frame);
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
  if (holds("Tensor::operator[]")) return "index";
  name.resize(std::min(name.find_first_of("(<["), name.size()));
  name.erase(0, name.rfind(':') + 1);
  return holds("operator") ? "" : name;
}

bool are_one(const Entry& a, const Entry& b) {
  const auto text = [](const char* x) { return std::string_view(x ? x : ""); };
  return text(a.name) == text(b.name) && text(a.file) == text(b.file) && a.line == b.line && a.axis == b.axis &&
         a.size == b.size;
}

bool is_of_the_user(const Entry& entry) { return entry.name && !is_own_file(entry.file); }

/// add(entry) for the transforms inside the level `outside`, the innermost first. A transform with several levels is
/// named once: a jet, or one whose levels are of two kinds.
template <class Add>
void for_each_entry(Level outside, const Add& add) {
  const BackwardPass* pass = this_thread.backward;
  const auto add_passes_inside = [&](Level level) {
    for (; pass && pass->around >= level; pass = pass->outer) add(pass->entry);
  };
  const Interpreter* inner = nullptr;
  for (const Interpreter* i : whole_nest()) {
    if (i->level <= outside) break;
    add_passes_inside(i->level);
    const bool may_be_one = inner && (inner->kind != i->kind || inner->stands_with_others());
    const bool said = may_be_one && are_one(inner->entry, i->entry);
    if (!said) add(i->entry);
    inner = i;
  }
  add_passes_inside(outside);
}

std::string to_string(const RecordedTransform& transform, const RunningEquation& run) {
  std::string text = transform.name;
  if (transform.examples)
    if (const Size examples = run.size_of(*transform.examples); !examples.is_symbol())
      text += " of " + std::to_string(examples.raw());
  return text + transform.place;
}

std::string nest() {
  std::string text;
  for (const RunningEquation* run = this_thread.equation; run; run = run->outer)
    if (run->origin && run->origin->nest)
      for (const RecordedTransform& transform : *run->origin->nest) text += ", inside " + to_string(transform, *run);
  for_each_entry(0, [&](const Entry& entry) {
    if (is_of_the_user(entry)) text += ", inside " + to_string(entry);
  });
  return text.empty() ? text : "\n  " + text.substr(2);
}

}  // namespace

CallSite CallSite::here() {
  CallSite site;
  if (caller_place) {
    site.place_ = caller_place();
    return site;
  }
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
  site.calls_.assign(calls.all.begin(), calls.all.begin() + static_cast<std::ptrdiff_t>(calls.count));
  return site;
}

std::string CallSite::place() const {
  if (!place_.empty()) return place_;
  const std::lock_guard lock(one_walk());
  Frame frame;
  if (backtrace_state* const state = debug_information())
    std::ranges::find_if(calls_, [&](std::uintptr_t call) { return find_frame(state, call, frame) != 0; });
  return to_string(frame);
}

std::string CallSite::text() const {
  if (!place_.empty()) return "a call (" + place_ + ")";
  const std::lock_guard lock(one_walk());
  backtrace_state* const state = debug_information();
  const auto name_at = [&](std::uintptr_t call) {
    const char* symbol = nullptr;
    const auto note = [](void* found, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
      *static_cast<const char**>(found) = name;
    };
    if (call) backtrace_syminfo(state, call, note, ignore, &symbol);
    return symbol ? name_of_function(symbol) : "";
  };
  std::uintptr_t callee = 0, called_by_it = 0;
  for (const std::uintptr_t call : calls_) {
    Frame frame;
    if (state && find_frame(state, call, frame) != 0) {
      std::string name = name_at(callee);
      if (name.empty()) name = name_at(called_by_it);  // `add`, where the compiler has not inlined operator+
      return (name.empty() ? "a call" : name) + " (" + to_string(frame) + ")";
    }
    called_by_it = callee;
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

void set_caller_place(CallerPlace place) { caller_place = place; }

Size RunningEquation::size_of(Size size) const {
  for (const RunningEquation* run = this; run && size.is_symbol(); run = run->outer) {
    const auto [table, inputs] = run->sizes;
    if (table && table->has(size)) return table->evaluate(size, inputs);
  }
  return size;
}

void note_rows_that_take_part(const Tensor& takes_part) {
  const RunningEquation* const equation = this_thread.equation;
  const RunningEquation* const around = equation ? equation->outer : nullptr;
  if (!around || value_of(takes_part)->kind != ValueKind::array) return;
  const int axes = takes_part.dim();
  const auto known = std::ranges::find_if(around->takes_part, [&](const Tensor& t) { return t.dim() <= axes; });
  if (known != around->takes_part.end() && known->dim() == axes) *known = takes_part;
  else around->takes_part.insert(static_cast<std::size_t>(known - around->takes_part.begin()), takes_part);
}

namespace {

using Places = SmallVector<std::size_t, 4>;

/// Which of the vmaps the axes are of, where their sizes leave one answer: the axes are in the order of the vmaps.
/// There is one answer where the first vmap that fits each axis, and the last one, are the same.
std::optional<Places> vmaps_of_axes(std::span<const Size> axes, std::span<const Size> vmaps) {
  Places first, last;
  for (std::size_t v = 0; v < vmaps.size() && first.size() < axes.size(); ++v)
    if (vmaps[v].raw() == axes[first.size()].raw()) first.push_back(v);
  for (std::size_t v = vmaps.size(); v-- > 0 && last.size() < axes.size();)
    if (vmaps[v].raw() == axes[axes.size() - 1 - last.size()].raw()) last.insert(0, v);
  return first.size() == axes.size() && first == last ? std::optional(first) : std::nullopt;
}

/// The vmaps that run, whose sizes are the first of the shape, then those of the equation's call.
SmallVector<Size, 4> vmaps_of(const RunningEquation& run, std::span<const Size> running) {
  SmallVector<Size, 4> vmaps(running.begin(), running.end());
  if (run.origin)
    for (const ExamplesOfCall& examples : run.origin->examples) vmaps.push_back(run.size_of(examples.size));
  return vmaps;
}

/// `at`: a place in takes_part. The number of that row along the last axis; of a copied row, the number of the row that
/// was copied, the first that takes part.
std::int64_t row_behind(const Array& takes_part, const Places& at) {
  const std::size_t last = at.size() - 1;
  const auto* flag = static_cast<const bool*>(takes_part.data);
  for (std::size_t axis = 0; axis < last; ++axis)
    flag += static_cast<std::int64_t>(at[axis]) * takes_part.strides[axis];
  const std::int64_t step = takes_part.strides[last], rows = takes_part.type.shape[last].host();
  auto row = static_cast<std::int64_t>(at[last]);
  if (flag[row * step]) return row;
  for (row = 0; row + 1 < rows && !flag[row * step];) ++row;
  return row;
}

}  // namespace

void replace_rows_by_examples(Shape& place, const Shape& shape, std::size_t running, std::size_t recorded) {
  const RunningEquation* const equation = this_thread.equation;
  if (!equation) return;
  const std::span<const Size> axes(shape.data(), running + recorded);
  const SmallVector<Size, 4> vmaps = vmaps_of(*equation, axes.first(running));
  const std::optional<Places> of_axes = vmaps_of_axes(axes, vmaps);
  if (!of_axes) return;
  const auto replace = [&](const Array& takes_part) {
    const Shape& rows = takes_part.type.shape;
    const std::optional<Places> of_rows = vmaps_of_axes({rows.data(), rows.size()}, vmaps);
    if (!of_rows) return;
    Places at;
    std::size_t axis = 0;
    for (const std::size_t vmap : *of_rows) {
      axis = static_cast<std::size_t>(std::ranges::find(*of_axes, vmap) - of_axes->begin());
      if (axis == of_axes->size()) return;  // what failed is the same in all rows
      at.push_back(static_cast<std::size_t>(place[axis].host()));
    }
    place[axis] = row_behind(takes_part, at);
  };
  for (const RunningEquation* run = equation; run; run = run->outer)
    for (const Tensor& takes_part : run->takes_part) replace(static_cast<const Array&>(*value_of(takes_part)));
  for (std::size_t axis = running; axis < axes.size(); ++axis)
    if (const std::size_t vmap = (*of_axes)[axis]; vmap >= running)
      place[axis] = place[axis].host() + equation->origin->examples[vmap - running].first;
}

OriginRef joined(const OriginRef& inner, const OriginRef& outer) {
  if (!inner || !outer) return inner ? inner : outer;
  Origin both = *inner;
  if (outer->called) both.called = outer->called;
  if (!both.site.is_known()) both.site = outer->site;
  if (both.nest && outer->nest) {
    std::vector<RecordedTransform> all = *both.nest;
    all.insert(all.end(), outer->nest->begin(), outer->nest->end());
    both.nest = std::make_shared<const std::vector<RecordedTransform>>(std::move(all));
  } else if (outer->nest) {
    both.nest = outer->nest;
  }
  return std::make_shared<const Origin>(std::move(both));
}

OriginRef with_sizes(const OriginRef& origin, const std::function<Size(Size)>& size_of) {
  if (!origin) return origin;
  const auto is_open = [](const RecordedTransform& t) { return t.examples && t.examples->is_symbol(); };
  const bool has_open_nest = origin->nest && std::ranges::any_of(*origin->nest, is_open);
  if (!has_open_nest && std::ranges::none_of(origin->examples, &Size::is_symbol, &ExamplesOfCall::size)) return origin;
  Origin other = *origin;
  for (ExamplesOfCall& examples : other.examples) examples.size = size_of(examples.size);
  if (has_open_nest) {
    std::vector<RecordedTransform> nest = *origin->nest;
    for (RecordedTransform& transform : nest)
      if (transform.examples) transform.examples = size_of(*transform.examples);
    other.nest = std::make_shared<const std::vector<RecordedTransform>>(std::move(nest));
  }
  return std::make_shared<const Origin>(std::move(other));
}

namespace {

/// run(run) for the equations that run inside a level, the innermost first.
template <class F>
void for_each_run(Level outside, const F& f) {
  for (const RunningEquation* run = this_thread.equation; run && run->around >= outside; run = run->outer)
    if (run->origin) f(*run);
}

}  // namespace

RecordedNest OriginsInside::nest() {
  std::vector<std::uint64_t> key;
  const auto address = [](const void* of) { return reinterpret_cast<std::uintptr_t>(of); };
  const auto add = [&](Size size) { key.push_back(static_cast<std::uint64_t>(size.raw())); };
  for_each_run(outside_, [&](const RunningEquation& run) {
    key.push_back(address(run.origin->nest.get()));
    std::ranges::for_each(run.sizes.inputs, add);
  });
  for_each_entry(outside_, [&](const Entry& e) {
    for (const std::uint64_t word : {address(e.name), address(e.file), std::uint64_t{e.line}, std::uint64_t(e.axis)})
      key.push_back(word);
    add(e.examples);
  });
  if (key == key_) return nest_;
  std::vector<RecordedTransform> all;
  for_each_run(outside_, [&](const RunningEquation& run) {
    if (!run.origin->nest) return;
    for (RecordedTransform transform : *run.origin->nest) {
      if (transform.examples) transform.examples = run.size_of(*transform.examples);
      all.push_back(std::move(transform));
    }
  });
  for_each_entry(outside_, [&](const Entry& e) {
    if (!is_of_the_user(e)) return;
    const bool is_vmap = std::string_view(e.name) == "vmap";
    all.push_back({.name = e.name + (is_vmap ? " over axis " + std::to_string(e.axis) : std::string()),
                   .examples = is_vmap ? std::optional(e.examples) : std::nullopt,
                   .place = at(e.file, e.line)});
  });
  key_ = std::move(key);
  return nest_ = all.empty() ? nullptr : std::make_shared<const std::vector<RecordedTransform>>(std::move(all));
}

OriginRef OriginsInside::now(bool may_fail, const SmallVector<ExamplesOfCall, 2>& examples) {
  Origin origin{.called = this_thread.called, .nest = nest()};
  const RunningEquation* innermost = nullptr;
  for_each_run(outside_, [&](const RunningEquation& run) {
    if (!innermost) innermost = &run;
    if (may_fail && !origin.site.is_known()) origin.site = run.origin->site;
  });
  if (!may_fail) {
    const bool is_empty = !origin.called && !origin.nest;
    if (!last_ || last_->called != origin.called || last_->nest != origin.nest)
      last_ = is_empty ? nullptr : std::make_shared<const Origin>(std::move(origin));
    return is_empty ? nullptr : last_;
  }
  origin.examples = examples;
  if (innermost)
    for (const auto& [size, first] : innermost->origin->examples)
      origin.examples.push_back({innermost->size_of(size), first});
  if (!origin.site.is_known()) origin.site = CallSite::here();
  return std::make_shared<const Origin>(std::move(origin));
}

std::string at(const char* file, unsigned line) {
  return *file && !is_own_file(file) ? " (" + std::string(basename_of(file)) + ":" + std::to_string(line) + ")"
                                     : std::string();
}

std::string with_nest(const std::string& text) { return text + nest(); }

void require_defined(const char* op, const Tensor& x, int operand) {
  if (!x.defined())
    raise<ValueError>(std::string(op) + ": operand " + std::to_string(operand) +
                      " is an undefined Tensor; give it a value first");
}

std::string Called::renamed(const std::string& text) {
  if (!this_thread.called) return text;
  const std::size_t end = text.find(": ");
  const std::string_view start(text.data(), end == std::string::npos ? 0 : end);
  const bool is_name = !start.empty() && start.find(' ') == std::string_view::npos;
  return this_thread.called + (is_name ? text.substr(end) : ": " + text);
}

std::string with_context(const std::string& text) {
  const std::string place = place_of_user();
  return with_nest(Called::renamed(text)) + (place.empty() ? "" : "\n  at " + place);
}

}  // namespace ricci
