// Calls of operations from Python: one table for each name (made by tools/python_operations.py), which holds an entry
// for each C++ overload. A call is bound to the first entry that it fits. Start with `OperationTable` and `Call`.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "object.h"
#include "ricci/dims.h"
#include "ricci/keys.h"
#include "ricci/ops.h"
#include "ricci/ops/sequences.h"
#include "ricci/random.h"

namespace ricci::python {

/// What an argument is; the names are those of `Call`'s functions, and of ricci::Axes, Shape and Sizes.
enum class Kind : std::uint8_t {
  tensor,
  tensors,
  axes,
  axes_pair,
  shape,
  sizes,
  integer,
  size,
  bound,
  optional_size,
  number,
  numbers,
  boolean,
  text,
  dtype,
  generator,
  reduction,
  indices,
  terms,
  device,
  key
};

inline constexpr int has_default = 1;   ///< it may be left out
inline constexpr int keyword_only = 2;  ///< given by name
inline constexpr int several = 4;       ///< the last arguments may be given one by one: zeros(2, 3)

struct Parameter {
  const char* name;
  Kind kind;
  int flags;
  PyObject* interned = nullptr;  // the name, once the module is there
};

/// What an operation with several results gives: a named tuple, as in PyTorch. Operations whose results have the same
/// names share its class, so that branches of a conditional may give `max` or `sort`.
struct ResultType {
  const char* name;
  const char* fields;            // "values indices"
  PyTypeObject* type = nullptr;  // once the module is there
};

class Call;
struct Overload {
  Parameter* parameters;
  std::size_t count;
  PyObject* (*call)(Call&);
};

enum class Where : std::uint8_t {
  function,  ///< of the module
  method,    ///< and of Tensor
  own,       ///< of Tensor alone
  key        ///< of Key alone
};

// What an operation takes besides the arguments of its overloads, by name.
inline constexpr int takes_out = 1;      ///< the Tensor, or the tuple of them, that gets the result
inline constexpr int takes_inplace = 2;  ///< whether the first argument gets it
// Words of PyTorch that change no value here: there is one device, and elements stand in row-major order.
inline constexpr int takes_device = 4;         ///< with layout and pin_memory
inline constexpr int takes_requires_grad = 8;  ///< which may be False
inline constexpr int takes_memory_format = 16;

/// A parameter of the one signature that the doc shows for all overloads.
struct Shown {
  const char* name;
  const char* text;  ///< its default in Python; null where it has none
  bool keyword_only;
  PyObject* value = nullptr;  // the default, once it is asked for
};

struct OperationTable {
  const char* name = nullptr;  ///< null behind the last table
  const char* doc = nullptr;
  const Overload* overloads = nullptr;  ///< those with fewer parameters first
  std::size_t count = 0;
  Where where = Where::function;
  int takes = 0;
  Shown* shown = nullptr;  ///< none where the doc shows several signatures
  std::size_t shown_count = 0;
  const ResultType* result = nullptr;  ///< of several results
};

inline constexpr std::size_t most_parameters = 24;

/// What gives a Tensor, or several where an argument asks for more: `nonzero(x, as_tuple=True)`.
using OneOrSeveral = std::variant<Tensor, std::vector<Tensor>>;
/// What the first argument, a Python object, stands for from now on: `x.unsqueeze_(0)`. Other handles of the tensor
/// that it stood for, views and the tensors of C++ keep their shapes.
struct Rebound {
  Tensor tensor;
};
/// The operands of an einsum, each with the numbers of its axes, and the numbers of the result's.
struct Terms {
  static constexpr std::int64_t others = INT64_MIN;  ///< `...` among the axes
  std::vector<Tensor> operands;
  std::vector<Axes> axes;
  std::optional<Axes> result;
};
struct OnlyDevice {};

/// One call that is bound to an overload. Its functions give C++ the arguments by number; where one is left out, the
/// second argument is the default. They throw TypeError for what does not fit.
class Call {
 public:
  Call(const OperationTable& table, const Overload& overload, PyObject* const* given)
      : table_(table), overload_(overload), given_(given) {}
  Call(const Call&) = delete;
  ~Call() { back(); }

  In tensor(std::size_t i) const;
  In tensor(std::size_t i, double missing) const { return given_[i] ? tensor(i) : In(Tensor(missing)); }
  std::vector<Tensor> tensors(std::size_t i) const;
  Axes axes(std::size_t i) const;
  std::optional<Axes> optional_axes(std::size_t i) const;
  std::pair<Axes, Axes> axes_pair(std::size_t i) const;
  Shape shape(std::size_t i) const;
  Sizes sizes(std::size_t i) const;
  Sizes sizes(std::size_t i, std::int64_t missing) const { return given_[i] ? sizes(i) : Sizes(missing); }
  std::int64_t integer(std::size_t i) const;
  std::int64_t integer(std::size_t i, std::int64_t missing) const { return given_[i] ? integer(i) : missing; }
  Size size(std::size_t i) const;
  Size size(std::size_t i, std::int64_t missing) const { return given_[i] ? size(i) : Size(missing); }
  Bound bound(std::size_t i) const;
  std::optional<Size> optional_size(std::size_t i) const;
  double number(std::size_t i) const;
  double number(std::size_t i, double missing) const { return given_[i] ? number(i) : missing; }
  std::optional<double> optional_number(std::size_t i) const;
  std::vector<double> numbers(std::size_t i) const;
  bool boolean(std::size_t i) const;
  std::optional<bool> optional_boolean(std::size_t i) const;
  bool boolean(std::size_t i, bool missing) const { return given_[i] ? boolean(i) : missing; }
  std::string text(std::size_t i) const;
  std::string text(std::size_t i, const char* missing) const { return given_[i] ? text(i) : missing; }
  std::optional<std::string> optional_text(std::size_t i) const;
  DType dtype(std::size_t i) const;
  std::optional<DType> optional_dtype(std::size_t i) const;
  Reduction reduction(std::size_t i) const;
  Reduction reduction(std::size_t i, Reduction missing) const { return given_[i] ? reduction(i) : missing; }
  std::vector<Index> indices(std::size_t i) const;
  Key key(std::size_t i) const;
  Terms terms(std::size_t i) const;
  OnlyDevice device(std::size_t i) const;
  TensorOptions tensor_options(std::size_t first) const;
  LikeOptions like_options(std::size_t first) const;
  WindowOptions window_options(std::size_t first) const;
  IntegerOptions integer_options(std::size_t first) const;
  RandomOptions random_options(std::size_t first) const;
  SizeOptions size_options(std::size_t first) const;
  TriangularOptions triangular_options(std::size_t first) const;

  /// The arguments are read: other Python threads may run while C++ computes, where that takes long.
  void begin();
  /// What the operation gave, as a new reference.
  PyObject* end(Tensor result);
  PyObject* end(bool result);
  PyObject* end(const std::pair<Tensor, Tensor>& result);
  PyObject* end(const std::tuple<Tensor, Tensor, Tensor>& result);
  PyObject* end(const std::vector<Tensor>& result);
  PyObject* end(const OneOrSeveral& result);
  PyObject* end(Rebound result);
  /// The operation wrote to argument i and gives it back.
  PyObject* end_same(std::size_t i);
  /// Takes the interpreter's lock again.
  void back();

 private:
  PyObject* named_tuple(std::initializer_list<const Tensor*> parts) const;
  template <class Options>
  Options dtype_and_generator(std::size_t first) const;
  [[noreturn]] void refuse(std::size_t i, const char* wanted) const;
  GeneratorOption generator(std::size_t i) const;

  const OperationTable& table_;
  const Overload& overload_;
  PyObject* const* given_;
  PyThreadState* released_ = nullptr;
};

/// `ricci.sum` as a Python object: callable, a method of Tensor too, pickled by name.
PyTypeObject* make_operation_type();
nb::object make_operation(const OperationTable& table, PyTypeObject* type);
/// Makes its class, a named tuple of the module `ricci`, and gives it back.
nb::object make_result_type(ResultType& result);

/// x[…]'s indices. False where `o` is no index.
bool index_from(PyObject* o, std::vector<Index>& into);
/// `error`, `different` or `same`; TypeError else.
Randomness randomness_from(nb::handle o);
const char* word_of(Randomness randomness);
/// Generators, made in random.cpp. Null where it is none.
Generator* generator_from(PyObject* o);
/// The data of a Key; undefined where it is none.
Tensor key_data_from(PyObject* o);

}  // namespace ricci::python
