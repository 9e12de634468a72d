// Compiled functions: signatures, the recordings that serve them, and calls. Knows nothing of how a plan runs.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "compile/export.h"
#include "compile/plan_check.h"
#include "compile/program_plan.h"
#include "compile/switches.h"
#include "interpreters/recorder.h"
#include "ops/debug.h"
#include "primitive/writing.h"
#include "program/running.h"
#include "ricci/compile.h"
#include "ricci/default_dtype.h"
#include "ricci/primitive/pool.h"
#include "ricci/primitive/raise.h"
#include "ricci/tree/match_dims.h"
#include "tensor/profile.h"
#include "transforms/arguments.h"

namespace ricci::compiled {
namespace {

/// Of so many plans the one that was used longest ago goes when another is made.
constexpr std::size_t most_plans = 64;
constexpr std::int64_t most_of_a_small_size = 16;
/// In what is recorded for any number of examples: a number that no other size is likely to have.
constexpr std::int64_t recorded_examples = 1009;

/// What two calls must share to be served by one recording: the C++ types and trees of the arguments, the default
/// dtype, the dtypes and ranks of tensors, the plain values. Sizes come besides.
struct Signature {
  SmallVector<std::int64_t, 24> words;
  SmallVector<Size, 24> sizes;  // of all tensors, one after the other

  Signature(const tree::Walk& arguments, const std::string_view* type) {
    words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(type)));
    words.push_back(static_cast<std::int64_t>(default_dtype()));
    for (const tree::Node& node : arguments.nodes)
      words.push_back(static_cast<std::int64_t>(node.kind) << 32 | node.children);
    for (const std::string_view key : arguments.keys)
      words.push_back(static_cast<std::int64_t>(std::hash<std::string_view>{}(key)));
    for (const Tensor* leaf : arguments.leaves) add(*leaf);
  }
  std::shared_ptr<const CallSizes> sizes_of_call(std::shared_ptr<const SymbolTable> table) const {
    return std::make_shared<const CallSizes>(std::move(table), std::vector<Size>(sizes.begin(), sizes.end()));
  }

 private:
  void add(const Tensor& leaf) {
    if (!leaf.defined()) return words.push_back(-1);
    const Type& type = value_of(leaf)->type;
    const bool is_row_major = type.rank() < 2 || leaf.is_contiguous();  // a function may ask
    words.push_back(static_cast<std::int64_t>(type.dtype) << 32 | static_cast<std::int64_t>(type.rank()) << 2 |
                    static_cast<std::int64_t>(is_row_major) << 1 | static_cast<std::int64_t>(type.weak));
    for (const Size size : type.shape) sizes.push_back(size);
  }
};

/// A function written down for a signature.
struct Recording {
  Signature signature;
  tree::CopiedValues values;
  std::vector<bool> is_open;  // by size of the signature
  Program program;            // inputs: the tensors of the arguments, then what was captured
  std::shared_ptr<const SymbolTable> table;
  std::shared_ptr<const CallSizes> fixed_sizes;  // of all calls; null: some size is open
  std::shared_ptr<const ProgramPlan> plan;       // of the program
  Program relied_on;  // throws where a captured tensor that the function looked at has become another
  std::vector<Tensor> captured;
  /// Of the recording that the first call stood in; 0: none. What the function captured and looked at are variables of
  /// that recording, so this one serves while that one runs.
  Level inside = 0;
  std::vector<bool> is_literal;        // by captured tensor: the function made it, and nobody else has it
  std::shared_ptr<const void> result;  // the first call's, without its tensors
  std::vector<bool> defined;           // by leaf of the result
  struct Written {
    std::size_t leaf;                  // of the arguments
    RecordInterpreter::FirstWrite as;  // its operation, as errors name it
  };
  std::vector<Written> written;  // their values follow the result's
  // Where calls are checked:
  std::string text;  // of the program
  Program whole;     // as it was recorded; it captures
  // Of the last call, under the function's mutex.
  mutable std::uint64_t last_use = 0;
  mutable std::shared_ptr<const CallSizes> last_sizes;

  /// It may outlive a recording around it, whose sizes are numbers then.
  explicit Recording(Signature of) : signature(std::move(of)) {
    for (Size& size : signature.sizes) size = size.hint();
  }

  bool has_shape_of(const Signature& of) const {
    for (std::size_t i = 0; i < is_open.size(); ++i) {
      const Size size = of.sizes[i], recorded = signature.sizes[i];
      const bool fits = size.is_symbol() ? is_open[i] : is_open[i] ? size.raw() > 1 : size.raw() == recorded.raw();
      if (!fits) return false;
    }
    return true;
  }
};

/// Throws TransformError where an argument holds a value without ==: one plan would serve all of them.
void require_values_with_equality(const tree::Walk& arguments, const tree::Values& values, const runs::Place& where) {
  const auto other = std::ranges::find_if(values, [](const tree::Value& value) { return !value.type->equal; });
  if (other == values.end()) return;
  raise_own<TransformError>("compile: among the arguments " +
                                tree::described_value(arguments, static_cast<std::size_t>(other - values.begin())) +
                                ", which has no ==, so a plan for one value cannot be told from a plan for another; "
                                "give the type an ==, pass what it holds, or let the function capture it",
                            where);
}

/// Whether two recordings of a function capture the same tensors. A literal is another tensor at each recording.
bool captures_the_same(const Recording& one, const Recording& other) {
  const auto is_same = [&](std::size_t i) {
    const Tensor &a = one.captured[i], &b = other.captured[i];
    if (a.is_same(b)) return true;
    const Value &x = *value_of(a), &y = *value_of(b);
    const bool are_arrays = x.kind == ValueKind::array && y.kind == ValueKind::array;
    const auto elements = [](const Value& value) { return static_cast<const Array&>(value).strided(); };
    return one.is_literal[i] && other.is_literal[i] && are_arrays && are_same_bits(elements(x), elements(y));
  };
  if (one.captured.size() != other.captured.size()) return false;
  for (std::size_t i = 0; i < one.captured.size(); ++i)
    if (!is_same(i)) return false;
  return true;
}

/// The equations that throw where a captured tensor has become another. None where they need an argument, a draw or a
/// message.
Program checks_of(ProgramBody body, std::size_t arguments) {
  body.outputs.clear();
  body = without_dead_equations(without_prints(body));
  const auto acts = [](const Equation& e) { return e.rules->effect == Effect::acts; };
  const Flags read = inputs_read(body, {});
  const auto first_captured = read.begin() + static_cast<std::ptrdiff_t>(arguments);
  const bool reads_arguments = std::find(read.begin(), first_captured, true) != first_captured;
  if (reads_arguments || std::ranges::any_of(body.equations, acts)) return {};
  return Program(Shared<const ProgramBody>(new ProgramBody(std::move(body))));
}

}  // namespace

struct Function {
  runs::Place where;
  std::string name;  // for a profile
  CompileOptions options;
  std::mutex mutex;
  std::vector<std::shared_ptr<const Recording>> recordings;
  std::uint64_t calls = 0;

  PlanOptions plan_options() const {
    PlanOptions all{.effort = options.effort, .background = options.background};
    if (options.check) all.checked_at = at(where.file, where.line);
    return all;
  }
};

std::shared_ptr<Function> make_function(const char* file, unsigned line, const CompileOptions& options) {
  auto function = std::make_shared<Function>();
  function->where.file = file;
  function->where.line = line;
  function->name = "compiled" + at(file, line);
  function->options = options;
  function->options.check |= is_listed("RICCI_COMPILE_CHECK", "1");
  return function;
}

std::size_t count_plans(Function& function) {
  const std::lock_guard lock(function.mutex);
  return function.recordings.size();
}

namespace {

/// What a call holds while the function is recorded.
struct Making {
  std::shared_ptr<Recording> next;
  tree::Values values;  // of the arguments
  std::shared_ptr<SymbolTable> symbols;
  std::optional<Recorder> recorder;
  std::vector<Tensor> inputs;  // that the function got; undefined where its leaf is
};

}  // namespace

struct CallRun::State {
  const std::shared_ptr<Function> function;
  const Signature signature;
  std::shared_ptr<const Recording> recording;
  std::shared_ptr<const CallSizes> sizes;  // of the call
  // Of an export for any number of examples: by leaf of the arguments, whether it has them along its first axis.
  std::vector<bool> has_examples;
  std::string target;              // of an export
  std::unique_ptr<Making> making;  // null: there is a recording, which is not checked

  static void* operator new(std::size_t bytes) { return pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { pool::release(memory, bytes); }
  State(const std::shared_ptr<Function>& of, const tree::Walk& arguments, const std::string_view* type)
      : function(of), signature(arguments, type) {}

  bool is_for_any_examples() const { return !has_examples.empty(); }

  /// Throws ValueError where `.open` does not fit the arguments.
  void open_examples(const tree::Walk& arguments, const Dims& open) {
    const tree::DimsWords words{"export_object", "open", "the arguments", "are", true};
    const std::vector<Dim> dims = tree::match_dims(open, arguments, words);
    std::optional<std::int64_t> examples;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const Tensor& leaf = *arguments.leaves[i];
      has_examples.push_back(dims[i] && leaf.defined());
      if (!has_examples.back()) continue;
      const Type& type = value_of(leaf)->type;
      const std::string name = tree::argument_name(arguments, i) + ", " + to_string(type) + ",";
      if (type.rank() == 0) refuse_open("no axis to open is in " + name + " which needs rc::none");
      if (*dims[i] != 0 && *dims[i] != -type.rank())
        refuse_open("axis " + std::to_string(*dims[i]) + " of " + name +
                    " is not the first, and only the first can be open; let the function take it in front");
      const std::int64_t count = type.shape[0].hint();
      if (examples.value_or(count) != count)
        refuse_open("the open axis of " + name + " has " + std::to_string(count) + " examples, and those before have " +
                    std::to_string(*examples) + "; all have one number");
      examples = count;
    }
    if (!examples) refuse_open("no argument is open; give .open = 0 for one that has examples, or leave it out");
  }
  [[noreturn]] void refuse_open(const std::string& why) const {
    raise_own<ValueError>("export_object: " + why, function->where);
  }
  /// The sizes of the call, for as many examples as a recording for any number has.
  std::shared_ptr<const CallSizes> sizes_as_recorded(const Recording& of) const {
    Signature recorded = signature;
    for (std::size_t i = 0; is_for_any_examples() && i < of.is_open.size(); ++i)
      if (of.is_open[i]) recorded.sizes[i] = recorded_examples;
    return recorded.sizes_of_call(of.table);
  }
  /// By size of the signature: whether it is that of the examples.
  std::vector<bool> sizes_of_examples(const tree::Walk& arguments) const {
    std::vector<bool> open;
    for (std::size_t i = 0; i < has_examples.size(); ++i) {
      const Tensor& leaf = *arguments.leaves[i];
      const std::int64_t rank = leaf.defined() ? value_of(leaf)->type.rank() : 0;
      for (std::int64_t axis = 0; axis < rank; ++axis) open.push_back(axis == 0 && has_examples[i]);
    }
    return open;
  }

  /// Finds a recording that serves the call.
  void find(const tree::Walk& arguments, const tree::Values& now) {
    const std::lock_guard lock(function->mutex);
    find_where(now, [&](const Recording& known) { return is_as_seen(known, arguments); });
  }
  template <class Fits>
  bool find_where(const tree::Values& now, const Fits& fits) {
    for (const std::shared_ptr<const Recording>& known : function->recordings)
      if (serves(*known, now) && fits(*known)) {
        known->last_use = ++function->calls;
        recording = known;
        return true;
      }
    return false;
  }
  /// Whether what the function looked at while it was recorded is what it was.
  bool is_as_seen(const Recording& known, const tree::Walk& arguments) const {
    if (known.relied_on.equations() == 0) return true;
    try {
      const Tensors all = operands(known, arguments);
      known.relied_on.in_call(sizes)(std::span<const Tensor>(all.data(), all.size()));
      return true;
    } catch (const TransformError&) { return false; }
  }
  bool is_alike(const Recording& known, const tree::Values& now) const {
    return std::ranges::equal(known.signature.words, signature.words) &&
           known.signature.sizes.size() == signature.sizes.size() &&
           tree::first_difference(now, known.values) == now.size();
  }
  /// Finds a recording that another thread has made since `find` found none, of a function that relies on no captured
  /// values: else `find` may have seen that it does not serve. Requires: the function's mutex is held.
  bool find_made_meanwhile() {
    return find_where(making->values, [](const Recording& known) { return known.relied_on.equations() == 0; });
  }
  /// Where it serves, `sizes` are the call's.
  bool serves(const Recording& known, const tree::Values& now) {
    if (known.inside != 0 && !find_interpreter(known.inside)) return false;
    if (!is_alike(known, now) || !known.has_shape_of(signature)) return false;
    std::shared_ptr<const CallSizes> own = known.fixed_sizes;
    if (!own) {
      const bool are_numbers = std::ranges::none_of(signature.sizes, &Size::is_symbol);
      const auto& last = known.last_sizes;
      if (are_numbers && last && std::ranges::equal(last->inputs(), signature.sizes)) {
        own = last;
      } else {
        own = signature.sizes_of_call(known.table);
        if (!known.table->serves(own->inputs())) return false;
        if (are_numbers) known.last_sizes = own;
      }
    }
    sizes = std::move(own);
    return true;
  }
  /// Which sizes are left open: large ones, and small ones that have been others in a recording like this.
  std::vector<bool> open_sizes(const tree::Values& now) const {
    std::vector<bool> open;
    for (const Size size : signature.sizes) open.push_back(size.is_symbol() || size.raw() > most_of_a_small_size);
    const std::lock_guard lock(function->mutex);
    for (const std::shared_ptr<const Recording>& known : function->recordings) {
      if (!is_alike(*known, now)) continue;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const bool differs = known->is_open[i] || known->signature.sizes[i].raw() != signature.sizes[i].raw();
        open[i] = open[i] || (differs && signature.sizes[i].raw() > 1);
      }
    }
    return open;
  }
  static Tensors operands(const Recording& of, const tree::Walk& arguments) {
    Tensors all;
    for (const Tensor* leaf : arguments.leaves)
      if (leaf->defined()) all.push_back(*leaf);
    all.append(of.captured.begin(), of.captured.end());
    return all;
  }
  Program program() const { return recording->program.in_call(sizes); }
  Tensors run(const tree::Walk& arguments, const tree::Walk& result) const {
    const ProgramRun numbered(recording->program.body());
    const With<&ThreadContext::program_run> innermost(&numbered);
    const Tensors all = operands(*recording, arguments);
    const std::span<const Tensor> inputs{all.data(), all.size()};
    const bool is_checked = function->options.check;
    if (this_thread.innermost) return apply_compiled(program(), inputs, function->plan_options());
    const auto run_plan = [&] { return recording->plan->run(sizes, inputs); };
    if (!is_checked) return run_plan();
    const std::size_t own = all.size() - recording->captured.size();
    return checked(
        run_plan, recording->whole, inputs.first(own), [&](std::size_t i) { return name_of(i, arguments, result); },
        *function->plan_options().checked_at);
  }
  /// Of what the program gives: the result's tensors, then what is written to the arguments.
  std::string name_of(std::size_t output, const tree::Walk& arguments, const tree::Walk& result) const {
    for (std::size_t i = 0; i < result.leaves.size(); ++i)
      if (recording->defined[i] && output-- == 0) {
        const std::string path = tree::leaf_path(result, i);
        return path.empty() ? "the result" : "result " + path;
      }
    return "what is written to " + tree::argument_name(arguments, recording->written[output].leaf);
  }
  /// Each argument was an input of its own while the function was recorded, so a write to one is seen in no other.
  void require_written_apart(const tree::Walk& arguments) const {
    for (const auto& [written, as] : recording->written) {
      const Tensor& target = *arguments.leaves[written];
      const auto shares = [&](const Tensor& t) {
        return t.defined() && t.cell() != target.cell() && root_of(t.cell()) == root_of(target.cell());
      };
      const auto is_twice = [&](const Tensor* leaf) { return leaf != &target && leaf->is_same(target); };
      const bool stands_apart =
          std::ranges::none_of(arguments.leaves, [&](const Tensor* leaf) { return is_twice(leaf) || shares(*leaf); }) &&
          std::ranges::none_of(recording->captured, [&](const Tensor& t) { return t.is_same(target) || shares(t); });
      if (!stands_apart)
        raise_own<NotImplementedError>("compile: the function writes to " + tree::argument_name(arguments, written) +
                                           ", which shares memory with another argument or a captured tensor; pass a "
                                           "clone() of one of them",
                                       function->where);
    }
  }
};

CallRun::CallRun(const std::shared_ptr<Function>& function, const tree::Walk& arguments, const tree::Values& values,
                 const std::string_view* type, const ExportOptions& to_export)
    : state_(new State(function, arguments, type)) {
  State& s = *state_;
  s.target = to_export.target;
  if (to_export.open.leaf && !to_export.open.dim) s.find(arguments, values);
  else s.open_examples(arguments, to_export.open);
  if (!records()) return;
  require_values_with_equality(arguments, values, function->where);
  s.making = std::make_unique<Making>();
  s.making->values = values;
  s.making->next = std::make_shared<Recording>(s.signature);
  Recording& next = *s.making->next;
  if (const Interpreter* const around = recorder_of_everything()) next.inside = around->level;
  next.is_open = s.is_for_any_examples() ? s.sizes_of_examples(arguments)
                 : s.recording           ? s.recording->is_open
                                         : s.open_sizes(values);
  next.values = tree::copy_values(values);
}
CallRun::~CallRun() = default;

bool CallRun::records() const { return !state_->recording || state_->function->options.check; }

void CallRun::enter(const tree::Walk& copies) {
  const State& s = *state_;
  Making& making = *s.making;
  making.symbols = std::make_shared<SymbolTable>(this_thread.symbols);
  ArgumentTypes inputs(copies.leaves);
  std::size_t next = 0;
  std::optional<Size> examples;  // their number, the same in all arguments
  for (Type& type : inputs.types)
    for (Size& size : type.shape) {
      // A function that is recorded again to be checked sees the sizes of the first time: rules may choose by them.
      const Size seen = s.recording ? s.recording->signature.sizes[next] : size;
      const bool is_open = making.next->is_open[next++];
      if (is_open && s.is_for_any_examples()) {
        if (examples) making.symbols->skip_input();
        else examples = making.symbols->add_input(recorded_examples);
        size = *examples;
      } else if (is_open) {
        size = making.symbols->add_input(seen.hint());
      } else {
        making.symbols->skip_input();
        size = size.host();
      }
    }
  making.recorder.emplace("compile", Records::program, entry_of("compile", s.function->where), making.symbols);
  making.recorder->show(copies.leaves, inputs);
  for (const Tensor* leaf : copies.leaves) making.inputs.push_back(*leaf);
}

void CallRun::leave(const tree::Walk& result, std::shared_ptr<void> tree, const tree::Walk& leaves) {
  State& s = *state_;
  Making& making = *s.making;
  Recording& made = *making.next;
  Recorder& recorder = *making.recorder;
  recorder.interpreter().end_inside();
  {
    const AtLevel outside(recorder.interpreter().parent);
    require_some_tensor("compile", "result", result, s.function->where);
  }
  for (const Tensor* leaf : result.leaves) {
    made.defined.push_back(leaf->defined());
    if (leaf->defined()) recorder.output(*leaf);
  }
  auto input = recorder.body().inputs.begin();
  for (std::size_t i = 0; i < making.inputs.size(); ++i) {
    if (!making.inputs[i].defined()) continue;
    const Variable before = *input++;
    if (recorder.variable(making.inputs[i]) == before) continue;
    const auto& writes = recorder.interpreter().first_writes();
    const auto first = writes.find(before);
    made.written.push_back({i, first == writes.end()
                                   ? RecordInterpreter::FirstWrite{"compile", type_of(making.inputs[i]), {}}
                                   : first->second});
    recorder.output(making.inputs[i]);
  }
  making.inputs.clear();
  const Program whole = recorder.end();
  const Program program = whole.simplified();
  const std::uint32_t own_handles = &program.body() == &whole.body() ? 1 : 2;
  for (const Capture& capture : program.body().captures)
    made.is_literal.push_back(capture.tensor.cell()->refs.is(own_handles));
  ProgramBody closed = program.body();
  for (const Capture& capture : closed.captures) {
    closed.inputs.push_back(capture.variable);
    made.captured.push_back(capture.tensor);
  }
  closed.captures.clear();
  made.table = making.symbols;
  closed.symbols = nullptr;
  made.relied_on = checks_of(closed, closed.inputs.size() - made.captured.size());
  made.program = Program(Shared<const ProgramBody>(new ProgramBody(std::move(closed))));
  for (Tensor* leaf : leaves.leaves) *leaf = Tensor();
  made.result = std::move(tree);
  if (s.function->options.check) {
    made.text = to_string(program);
    made.whole = whole;
  }
  if (s.recording) {  // checked
    const char* const what = s.recording->text != made.text          ? "computes something else"
                             : captures_the_same(*s.recording, made) ? nullptr
                                                                     : "captures another tensor";
    if (what)
      raise_own<TransformError>(std::string("compile: the function ") + what +
                                    " than it did when it was recorded; pass what changes as an argument",
                                s.function->where);
    return;
  }
  s.sizes = s.sizes_as_recorded(made);
  if (s.is_for_any_examples()) {
    s.recording = making.next;
    return;
  }
  // It serves its own call. Where that is made inside another recording, what the function decided by its sizes becomes
  // what that recording relies on.
  if (!made.table->serves(s.sizes->inputs())) throw Error("compile: a recording does not serve its own call");
  if (std::ranges::find(made.is_open, true) == made.is_open.end()) made.fixed_sizes = s.sizes;
  {
    const profile::Noted noted(s.function->name.c_str(), "make plan");
    made.plan = plan_of(made.program.in_call(s.sizes), s.function->plan_options());
  }
  std::shared_ptr<const Recording> oldest;  // ends without the lock: a thread may be at work on its plan
  const std::lock_guard lock(s.function->mutex);
  if (s.find_made_meanwhile()) return;
  auto& all = s.function->recordings;
  made.last_use = ++s.function->calls;
  if (all.size() == most_plans) {
    const auto found = std::ranges::min_element(all, {}, [](const auto& r) { return r->last_use; });
    oldest = std::move(*found);
    all.erase(found);
  }
  if (is_listed("RICCI_LOG", "trace"))
    std::clog << "compile (" << s.function->where.file << ":" << s.function->where.line
              << "): " << (all.empty() ? "first call" : "no plan serves these arguments") << ", recorded "
              << program.equations() << " equations\n";
  all.push_back(making.next);
  s.recording = making.next;
}

void CallRun::refuse(const char* found) {
  state_->making->recorder.reset();
  raise_no_tensor("compile", found, state_->function->where);
}

const void* CallRun::result() const { return state_->recording->result.get(); }

void CallRun::run(const tree::Walk& arguments, const tree::Walk& result) {
  const State& s = *state_;
  s.require_written_apart(arguments);
  const profile::Noted noted(s.function->name.c_str(), "call");
  const Tensors found = s.run(arguments, result);
  auto next = found.begin();
  for (std::size_t i = 0; i < result.leaves.size(); ++i)
    if (s.recording->defined[i]) *result.leaves[i] = *next++;
  for (const auto& [leaf, as] : s.recording->written) {
    const RunningEquation write{.origin = as.origin.get(), .sizes = sizes_of_run(s.sizes.get())};
    in_equation(write, [&] {
      Type target = as.target;
      for (Size& size : target.shape) size = write.size_of(size);
      assign_whole(*arguments.leaves[leaf], *next++, as.name.c_str(), target);
    });
  }
}

Plan CallRun::plan() { return Plan(finished_at(state_->sizes, state_->recording->plan)); }

Explanation CallRun::explain(const tree::Walk& arguments) {
  const State& s = *state_;
  const Tensors operands = s.operands(*s.recording, arguments);
  return finished(s.recording->plan)->explain(s.sizes, {operands.data(), operands.size()});
}

namespace {

/// `argument 1 (layers[0].weight)` as a name in C: `argument_1_layers_0_weight`.
std::string name_in_c(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_of_names = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_of_names) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

}  // namespace

void CallRun::export_to(const std::string& path, const tree::Walk& arguments, const tree::Walk& result) {
  const State& s = *state_;
  const Recording& recording = *s.recording;
  if (this_thread.innermost)
    raise_own<TransformError>("export_object: it writes a function down for arrays; call it outside of transforms",
                              s.function->where);
  ExportedNames names;
  std::set<std::string> taken = {"workspace"};
  const auto add = [&](std::vector<std::string>& to, const std::string& text) {
    std::string name = name_in_c(text);
    while (!taken.insert(name).second) name += "_";  // `a.b` and `a_b`
    to.push_back(name);
  };
  for (std::size_t i = 0; i < arguments.leaves.size(); ++i)
    if (arguments.leaves[i]->defined()) add(names.arguments, tree::argument_name(arguments, i));
  for (std::size_t i = 0; i < result.leaves.size(); ++i)
    if (recording.defined[i]) add(names.results, "result " + tree::leaf_path(result, i));
  for (const auto& [leaf, as] : recording.written)
    add(names.results, "written " + tree::argument_name(arguments, leaf));
  export_program(s.program(), recording.captured, names, s.is_for_any_examples(), s.target, path, s.function->where);
}

// ── calls from C++ ──

namespace {

/// Made once, as each call asks.
const ExportOptions& no_export() {
  static const ExportOptions none;
  return none;
}

/// Records the function where there is no plan yet; then `use(run, arguments, result)` with the result of the first
/// call, without its tensors.
template <class Use>
auto with_plan(const Called& called, const Use& use, const ExportOptions& to_export = no_export()) {
  const tree::Walk arguments = tree::walk_of(called.arguments);
  CallRun run(called.function, arguments, tree::values_of(called.arguments), called.type, to_export);
  if (run.records()) {
    tree::Arguments copies = called.arguments;
    run.enter(tree::walk_of(copies));
    tree::AnyTree result = called.f(copies);
    if (!result) run.refuse("nothing");
    const auto kept = std::make_shared<tree::AnyTree>(result);
    run.leave(ricci::call::walk(result), kept, ricci::call::walk(*kept));
  }
  return use(run, arguments, *static_cast<const tree::AnyTree*>(run.result()));
}

}  // namespace

tree::AnyTree call(const Called& called) {
  return with_plan(called, [](CallRun& run, const tree::Walk& arguments, tree::AnyTree result) {
    run.run(arguments, ricci::call::walk(result));
    return result;
  });
}

Plan plan(const Called& called) {
  return with_plan(called, [](CallRun& run, const tree::Walk&, const tree::AnyTree&) { return run.plan(); });
}

Explanation explain(const Called& called) {
  return with_plan(
      called, [](CallRun& run, const tree::Walk& arguments, const tree::AnyTree&) { return run.explain(arguments); });
}

void export_to(const std::string& path, const ExportOptions& options, const Called& called) {
  const auto write = [&](CallRun& run, const tree::Walk& arguments, tree::AnyTree result) {
    run.export_to(path, arguments, ricci::call::walk(result));
  };
  with_plan(called, write, options);
}

}  // namespace ricci::compiled
