// Printing and checking inside functions, and bars of progress. A line is printed by an operation without results.
// Under vmap it takes the numbers of the examples as one operand more, so that programs and chunks know them. An
// example that takes no part in a branch or step has the number -1 there, and nothing is printed for it.
#include "ricci/debug.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "interpreters/batch.h"
#include "kernels/elementwise.h"
#include "kernels/strided.h"
#include "ops/debug.h"
#include "ops/printing.h"
#include "ops/reading.h"
#include "primitive/wording.h"
#include "program/edit.h"
#include "ricci/ops.h"
#include "ricci/primitive.h"
#include "ricci/primitive/raise.h"
#include "ricci/progress.h"

namespace ricci {
namespace {

struct SinkOfAll {
  std::mutex mutex;
  std::shared_ptr<const debug::Sink> sink = std::make_shared<const debug::Sink>();
};
SinkOfAll& sink_of_all() {
  static SinkOfAll all;
  return all;
}

/// Calls `say`, unless what it says was said before.
template <class Say>
void once(const Say& say) {
  if (this_thread.lines_so_far >= this_thread.lines_printed) say();
  ++this_thread.lines_so_far;
}

/// The sink is called without a lock: it may wait for another thread that prints, and may print itself.
void tell(const std::string& line) {
  std::shared_ptr<const debug::Sink> sink;
  {
    const std::lock_guard lock(sink_of_all().mutex);
    sink = sink_of_all().sink;
  }
  if (*sink) (*sink)(line);
  else std::cout << line + '\n' << std::flush;
}

/// A text as a parameter: in quotes, on one line.
struct Quoted {
  std::string text;

  void print_parameter(std::string& out) const {
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') out += "\\n";
      else out += c;
    }
    out += '"';
  }
  void parse_parameter(std::string_view& from) {
    parameters::expect(from, "\"");
    text.clear();
    while (!from.empty() && from[0] != '"') {
      const bool is_escaped = from[0] == '\\' && from.size() > 1;
      if (is_escaped) from.remove_prefix(1);
      text += is_escaped && from[0] == 'n' ? '\n' : from[0];
      from.remove_prefix(1);
    }
    parameters::expect(from, "\"");
  }
  bool operator==(const Quoted&) const = default;
};

/// Calls text(characters) and field() in the order of the format. Throws ValueError if it is none.
template <class Text, class Field>
void read_format(std::string_view format, const Text& text, const Field& field) {
  const auto fail = [&](const std::string& finding) {
    raise<ValueError>("print: the format \"" + std::string(format) + "\" " + finding +
                      "; a value stands for {}, and {{ and }} are braces");
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c != '{' && c != '}') {
      text(c);
      continue;
    }
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (next == c) text(c);
    else if (c == '{' && next == '}') field();
    else if (c == '}') fail("has a } without a { in front of it");
    else fail("has a { that is followed by neither } nor {");
    ++i;
  }
}

/// Goes through the elements of an array in row-major order.
class Places {
 public:
  Places(const std::int64_t* shape, std::int64_t rank) : shape_(shape), at_(static_cast<std::size_t>(rank), 0) {
    for (std::int64_t axis = 0; axis < rank; ++axis) is_done_ |= shape[axis] == 0;
  }
  explicit operator bool() const { return !is_done_; }
  void next() {
    for (std::size_t axis = at_.size(); axis-- > 0;) {
      if (++at_[axis] < shape_[axis]) return;
      at_[axis] = 0;
    }
    is_done_ = true;
  }
  /// The part of `x` that is here along its first axes, so many.
  Strided part(const Strided& x, std::int64_t count) const {
    std::int64_t offset = 0;
    for (std::int64_t axis = 0; axis < count; ++axis) offset += at_[static_cast<std::size_t>(axis)] * x.strides[axis];
    return {advance(x.data, x.dtype, offset), x.dtype, static_cast<int>(x.rank - count), x.shape + count,
            x.strides + count};
  }

 private:
  const std::int64_t* shape_;
  std::vector<std::int64_t> at_;
  bool is_done_ = false;
};

/// Calls f(place, numbers of the example) for each example that takes part, of inputs as those of `Print`.
template <class F>
void for_each_example(Inputs in, std::int64_t vmaps, const F& f) {
  if (vmaps == 0) return f(Places(nullptr, 0), Shape());
  const Strided& innermost = in[static_cast<std::size_t>(vmaps - 1)];
  for (Places example(innermost.shape, vmaps); example; example.next()) {
    Shape numbers;
    bool takes_part = true;
    for (std::int64_t k = 0; k < vmaps; ++k) {
      const Strided number = example.part(in[static_cast<std::size_t>(k)], k + 1);
      numbers.push_back(*static_cast<const std::int64_t*>(number.data));
      takes_part = takes_part && numbers.back() >= 0;
    }
    if (takes_part) f(example, numbers);
  }
}

/// The inputs of an operation like `Print` with the numbers of the examples in front. Its rule runs one level further
/// out than the vmap.
Tensors with_numbers(const Batch& batch) {
  const Interpreter* vmap = this_thread.of_the_user;
  while (vmap->level != batch.level) vmap = vmap->parent;
  Tensors inputs{row_numbers(static_cast<const BatchInterpreter&>(*vmap))};
  for (int i = 0; i < batch.count(); ++i) inputs.push_back(batch.input(i));
  return inputs;
}

/// Inputs: for each vmap, the outermost first, the numbers of its examples, int64, with the axes of the vmaps up to it;
/// then the values, with the axes of all vmaps in front. A line without values has one that no field stands for. It has
/// no result: laws compare results, so it has no samples. `Debug.*` and `PrintedLines.*` test it.
struct Print {
  using kind = Explicit;
  static constexpr const char* name = "print";
  static constexpr Effect effect = Effect::acts;
  static constexpr bool locally_constant = true;
  Quoted format;
  std::int64_t vmaps = 0;

  Types type(const Types&) const { return {}; }
  void eval(Outputs, Inputs in) const {
    for_each_example(in, vmaps, [&](const Places& example, const Shape& numbers) {
      std::string whose;
      if (vmaps > 0)
        whose = "  (example " + (vmaps == 1 ? std::to_string(numbers[0].host()) : to_string(numbers)) + ")";
      once([&] { tell(line(example, in) + whose); });
    });
  }
  BatchedOutputs batch(const Batch& batch) const {
    apply(Print{format, vmaps + 1}, with_numbers(batch));
    return {.outputs = {}, .mapped = 0};
  }

 private:
  std::string line(const Places& example, Inputs in) const {
    std::string text;
    auto value = static_cast<std::size_t>(vmaps);
    const auto field = [&] {
      const Strided elements = example.part(in[value++], vmaps);
      const ArrayRef array = make_array({elements.dtype, Shape(elements.shape, elements.shape + elements.rank)});
      kernels::copy(array->strided(), elements);
      text += text_of_elements(*array, text.size() - (text.find_last_of('\n') + 1));
    };
    read_format(format.text, [&](char c) { text += c; }, field);
    return text;
  }
};

// ── bars ──

/// The bar that stands on the terminal. Threads that show steps take turns.
class Bar {
 public:
  void show(std::int64_t step, std::int64_t steps) {
    const std::lock_guard lock(mutex_);
    const std::int64_t done = std::clamp<std::int64_t>(step + 1, 0, steps);
    const int percent = static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(steps));
    const bool is_new = steps != steps_ || done <= done_;
    if (is_new) began_ = Clock::now();
    const bool is_drawn = !is_new && percent == percent_ && done < steps;
    steps_ = steps, done_ = done, percent_ = percent;
    if (!is_drawn && isatty(STDERR_FILENO) != 0) draw();
    if (done == steps) steps_ = 0;  // the next step begins anew
  }

 private:
  using Clock = std::chrono::steady_clock;

  void draw() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    std::ostringstream text;
    const auto half = static_cast<std::size_t>(percent_ / 2);
    text << "\r[" << std::string(half, '=') << std::string(50 - half, ' ') << "] " << std::setw(3) << percent_ << " %  "
         << done_ << " of " << steps_ << ", " << std::fixed << std::setprecision(1) << seconds << " s"
         << (done_ == steps_ ? "\n" : "");
    std::cerr << text.str() << std::flush;
  }

  std::mutex mutex_;
  std::int64_t steps_ = 0, done_ = 0;  // of no bar: no steps
  int percent_ = 0;
  Clock::time_point began_;
};

/// Inputs as of `Print`: the numbers of the examples, then the number of the step.
struct ShowProgress {
  using kind = Explicit;
  static constexpr const char* name = "progress";
  static constexpr Effect effect = Effect::acts;
  static constexpr bool locally_constant = true;
  std::int64_t steps = 1, vmaps = 0;

  Types type(const Types&) const { return {}; }
  void eval(Outputs, Inputs in) const {
    const Strided& numbers = in[static_cast<std::size_t>(vmaps)];
    std::int64_t last = INT64_MAX;  // of the example that is furthest behind
    for_each_example(in, vmaps, [&](const Places& example, const Shape&) {
      last = std::min(last, *static_cast<const std::int64_t*>(example.part(numbers, vmaps).data));
    });
    static Bar bar;
    if (last != INT64_MAX) once([&] { bar.show(last, steps); });
  }
  BatchedOutputs batch(const Batch& batch) const {
    apply(ShowProgress{steps, vmaps + 1}, with_numbers(batch));
    return {.outputs = {}, .mapped = 0};
  }
};

bool prints(const Equation& e) {
  return any_inside(e.op(), [](const Rules& rules) { return ricci::prints(rules); });
}

// ── checks ──

template <class T>
bool is_finite(const T& x) {
  if constexpr (requires { x.real(); }) return std::isfinite(x.real()) && std::isfinite(x.imag());
  else return std::isfinite(static_cast<double>(x));
}

/// The row-major place of the first element that is NaN or infinite, and its text; -1 if there is none.
std::pair<std::int64_t, std::string> first_not_finite(const Strided& x) {
  if (!kernels::is_contiguous(x)) {
    const kernels::RowMajorCopy copy(x);
    return first_not_finite(copy.view());
  }
  constexpr std::int64_t block = 1024;  // of which one truth value is found without a jump
  const std::int64_t count = kernels::element_count(x);
  return visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) -> std::pair<std::int64_t, std::string> {
    const auto* element = static_cast<const T*>(x.data);
    bool are_finite = true;
    std::int64_t begin = 0;
    for (; are_finite && begin < count; begin += block)
      for (std::int64_t i = begin; i < std::min(begin + block, count); ++i) are_finite &= is_finite(element[i]);
    if (are_finite) return {-1, ""};
    for (std::int64_t i = begin - block; i < count; ++i) {
      if (is_finite(element[i])) continue;
      const ArrayRef one = make_array({x.dtype, {}});
      *static_cast<T*>(one->data) = element[i];
      return {i, text_of_elements(*one, 0)};
    }
    return {-1, ""};
  });
}

struct AllFinite {
  static constexpr const char* name = "check_finite";
  Quoted of;
  bool is_cotangent = false;

  void look(const Strided& x, const Vmaps& vmaps) const {
    const auto [place, element] = first_not_finite(x);
    if (place < 0) return;
    const std::string found = element + place_text(place, Shape(x.shape, x.shape + x.rank), vmaps);
    if (!is_cotangent) raise<ValueError>("check_finite: " + of.text + " is " + found);
    raise<ValueError>("check_finite: the cotangent of " + of.text + " is " + found + "; an operation between " +
                      of.text + " and the result has this derivative there");
  }
};

/// A copy of x, whose cotangent is looked at.
struct FiniteCotangent {
  using kind = Linear;
  static constexpr const char* name = "finite_cotangent";
  static constexpr unsigned moves_elements = all_inputs;
  Quoted of;

  Type type(const Type& x) const { return x; }
  void eval(Outputs out, Inputs in) const { kernels::copy(out[0], in[0]); }
  Tensor transpose(const Tensor& ct) const {
    const auto examples = in_lanes_of({&ct, 1});
    check_elements("check_finite", ct, AllFinite{of, true});
    return ct;
  }
  FiniteCotangent lifted() const { return *this; }
  static std::vector<Sample<FiniteCotangent>> samples() { return {{{{"y"}}, {rand({2, 3})}}, {{{"y"}}, {rand({})}}}; }
};

}  // namespace

bool prints(const Rules& rules) { return &rules == &rules_of<Print> || &rules == &rules_of<ShowProgress>; }
bool prints(const Program& program) {
  const auto look = [&] {
    return std::make_shared<const bool>(
        std::ranges::any_of(program.body().equations, [](const Equation& e) { return prints(e); }));
  };
  return *program.body().made.get<bool>("prints", look);
}

ProgramBody without_prints(ProgramBody body) {
  std::erase_if(body.equations, [](const Equation& e) { return prints(*e.rules); });
  for (Equation& e : body.equations)
    if (prints(e)) e.parameters = with_each_program(e.op(), [](const Program& inner) { return without_prints(inner); });
  return body;
}
Program without_prints(const Program& program) {
  if (!prints(program)) return program;
  return Program(Shared<const ProgramBody>(new ProgramBody(without_prints(program.body()))));
}

namespace debug {

std::string Field::text_of_number(double x) {
  std::ostringstream text;
  text << x;
  return text.str();
}

void print_fields(std::string_view format, std::span<const Field> fields) {
  std::string text;
  Tensors values;
  std::size_t places = 0;
  const auto literal = [&](char c) {
    text += c;
    if (c == '{' || c == '}') text += c;
  };
  read_format(format, literal, [&] {
    if (places++ >= fields.size()) return;
    const Field& field = fields[places - 1];
    if (field.is_text) {
      std::ranges::for_each(field.text, literal);
      return;
    }
    require_defined("print", field.tensor, static_cast<int>(places - 1));
    values.push_back(field.tensor);
    text += "{}";
  });
  if (places != fields.size())
    raise<ValueError>("print: the format \"" + std::string(format) + "\" has " + count_of(places, "place", "places") +
                      " for " + count_of(fields.size(), "value", "values") + "; give one value for each {}");
  if (values.empty()) values.push_back(tensor(0));
  apply(Print{{text}}, values);
}

Tensor check_finite(const Tensor& x, std::string_view name) {
  require_defined("check_finite", x, 0);
  const DType dtype = type_of(x).dtype;
  const Quoted of{std::string(name)};
  if (is_floating(dtype) || is_complex(dtype)) check_elements("check_finite", x, AllFinite{of});
  return apply(FiniteCotangent{of}, x);
}

Sink set_sink(Sink sink) {
  auto next = std::make_shared<const Sink>(std::move(sink));
  const std::lock_guard lock(sink_of_all().mutex);
  return *std::exchange(sink_of_all().sink, std::move(next));
}

}  // namespace debug

Progress progress(std::int64_t steps) {
  if (steps < 1) raise<ValueError>("progress: a loop of " + std::to_string(steps) + " steps; it must have 1 at least");
  return Progress(steps);
}

void Progress::operator()(const Tensor& i) const {
  require_defined("progress", i, 0);
  const Type type = type_of(i);
  if (!is_integral(type.dtype))
    raise<TypeError>("progress: the step is " + to_string(type) + "; it must be an integer");
  if (type.rank() != 0) raise<ValueError>("progress: the step is " + to_string(type) + "; it must have no axes");
  const Tensor step[] = {to(i, DType::int64)};
  apply(ShowProgress{steps_}, step);
}

}  // namespace ricci
