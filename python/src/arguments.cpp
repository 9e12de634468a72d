// The function, the arguments and the options of one call of a transformed Python function.
#include "arguments.h"

#include <algorithm>

#include "call.h"
#include "sizes.h"

namespace ricci::python {

runs::Place place_here() {
  const PythonPlace here = python_place();
  runs::Place place;
  place.file = here.file;
  place.line = here.line;
  return place;
}

Argnums argnums_from(nb::handle o, const char* transform) {
  Argnums result;
  std::int64_t number = 0;
  const auto add = [&](PyObject* item) {
    if (!int_from(item, number))
      throw TypeError(std::string(transform) + ": argnums must be an int or a tuple of ints, not " +
                      name_of_type(item));
    result.numbers.push_back(static_cast<int>(std::clamp<std::int64_t>(number, INT32_MIN, INT32_MAX)));
  };
  if (!PyTuple_Check(o.ptr()) && !PyList_Check(o.ptr())) return add(o.ptr()), result;
  result.is_single = false;
  for (nb::handle item : nb::borrow<nb::object>(o)) add(item.ptr());
  if (result.numbers.empty()) throw ValueError(std::string(transform) + ": argnums is empty; name an argument");
  return result;
}

nb::object object_of(const Argnums& argnums) {
  nb::list list;
  for (const int number : argnums.numbers) list.append(number);
  return argnums.is_single ? nb::object(list[0]) : nb::object(nb::tuple(list));
}

std::vector<int> positions(const Argnums& argnums, std::size_t count, const char* transform) {
  std::vector<int> found;
  const int n = static_cast<int>(count);
  for (const int number : argnums.numbers) {
    if (number < -n || number >= n)
      throw IndexError(std::string(transform) + ": argnum " + std::to_string(number) + " is out of range for " +
                       std::to_string(n) + (n == 1 ? " argument" : " arguments"));
    const int position = number < 0 ? number + n : number;
    if (std::ranges::find(found, position) != found.end())
      throw ValueError(std::string(transform) + ": argnums names argument " + std::to_string(position) + " twice");
    found.push_back(position);
  }
  return found;
}

Arguments::Arguments(nb::handle tuple) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i)
    trees.push_back(tree_of(nb::handle(PyTuple_GET_ITEM(tuple.ptr(), i))));
}
std::vector<tree::Walk> Arguments::walks() {
  std::vector<tree::Walk> all;
  for (Tree& tree : trees) all.push_back(walk_of(tree));
  return all;
}
nb::object Arguments::rebuild() const {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(trees.size())));
  for (std::size_t i = 0; i < trees.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), python::rebuild(trees[i]).release().ptr());
  return tuple;
}

tree::Walk walk_of(Tree& tree) {
  tree::Walk walk;
  tree::walk(tree, walk);
  return walk;
}

Result result_of(nb::handle function, nb::handle arguments, nb::handle named, bool has_aux, const char* transform) {
  const nb::object returned = call(function, arguments, named);
  if (!has_aux) return {tree_of(returned), tree_of(nb::none())};
  if (!PyTuple_Check(returned.ptr()) || PyTuple_GET_SIZE(returned.ptr()) != 2)
    throw TypeError(std::string(transform) +
                    ": with has_aux=True the function must return a tuple (output, aux), not " + described(returned));
  return {tree_of(nb::handle(PyTuple_GET_ITEM(returned.ptr(), 0))),
          tree_of(nb::handle(PyTuple_GET_ITEM(returned.ptr(), 1)))};
}

std::string described(nb::handle o) {
  if (!PyTuple_Check(o.ptr())) return name_of_type(o.ptr());
  return "a tuple of " + std::to_string(PyTuple_GET_SIZE(o.ptr()));
}

std::optional<std::int64_t> chunk_from(nb::handle o, const char* transform) {
  std::int64_t size = 0;
  if (o.is_none()) return std::nullopt;
  if (!int_from(o.ptr(), size))
    throw TypeError(std::string(transform) + ": chunk_size must be an int or None, not " + name_of_type(o.ptr()));
  return size;
}

JacobianOptions jacobian_options(nb::handle chunk_size, nb::handle randomness, const char* transform) {
  JacobianOptions options;
  options.chunk_size = chunk_from(chunk_size, transform);
  options.randomness = randomness_from(randomness);
  return options;
}

}  // namespace ricci::python
