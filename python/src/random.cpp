// Generators and keys in Python.
#include "random.h"

#include <nanobind/stl/string.h>

#include "errors.h"
#include "sizes.h"

namespace ricci::python {

PyTypeObject* key_type = nullptr;

namespace {

PyTypeObject* generator_type = nullptr;

/// A state as a Tensor of its seed and position, so that whatever keeps Tensors keeps it.
Tensor tensor_of_state(const GeneratorState& state) {
  return ops::tensor(std::vector{static_cast<std::int64_t>(state.seed), static_cast<std::int64_t>(state.position)});
}
GeneratorState state_of(nb::handle given, const char* user) {
  if (!is_tensor(given.ptr()) || tensor_of(given.ptr()).dtype() != DType::int64 ||
      tensor_of(given.ptr()).shape() != Shape{2})
    throw TypeError(std::string(user) + ": a state is what get_state or get_rng_state gave, an int64 Tensor [2], not " +
                    name_of_type(given.ptr()));
  const auto numbers = tensor_of(given.ptr()).to_vector<std::int64_t>();
  return {static_cast<std::uint64_t>(numbers[0]), static_cast<std::uint64_t>(numbers[1])};
}
Key& key_of(PyObject* o) { return *nb::inst_ptr<Key>(o); }

std::int64_t seed_from(PyObject* o) {
  const nb::object number = nb::steal(PyNumber_Index(o));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long seed = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) throw ValueError("Key: the seed must fit 64 bits; take it % 2**63");
  if (seed == -1 && PyErr_Occurred()) throw nb::python_error();
  return seed;
}

}  // namespace

// `Key.__new__(Key)` gives an object without a key.
Generator* generator_from(PyObject* o) {
  return Py_TYPE(o) == generator_type && nb::inst_ready(o) ? nb::inst_ptr<Generator>(o) : nullptr;
}
Tensor key_data_from(PyObject* o) { return is_key(o) && nb::inst_ready(o) ? key_of(o).data : Tensor(); }
nb::object wrap_key(Tensor data) { return nb::cast(Key(std::move(data))); }

void make_random(nb::module_& m) {
  nb::class_<Generator> generator(m, "Generator",
                                  "A stream of draws: a draw is a function of seed, position and element.");
  generator_type = reinterpret_cast<PyTypeObject*>(generator.ptr());
  generator.def(nb::init<std::uint64_t>(), nb::arg("seed") = 0)
      .def(
          "manual_seed",
          [](nb::object self, std::uint64_t seed) {
            nb::cast<Generator&>(self).manual_seed(seed);
            return self;
          },
          nb::arg("seed"), "Back to the start of the stream of `seed`.")
      .def("seed", &Generator::seed, "The seed.")
      .def("initial_seed", &Generator::seed, "The seed.")
      .def(
          "get_state", [](const Generator& g) { return tensor_of_state(g.get_state()); },
          "Where it stands, as a Tensor to keep. TransformError inside vmap and in a function that is being recorded.")
      .def(
          "set_state",
          [](nb::object self, nb::handle state) {
            nb::cast<Generator&>(self).set_state(state_of(state, "set_state"));
            return self;
          },
          nb::arg("state"), "What is drawn next is what was drawn next when get_state gave the state.")
      .def("__reduce__",
           [](const Generator& g) {
             return nb::make_tuple(nb::module_::import_("ricci._functions").attr("generator_at"),
                                   nb::make_tuple(tensor_of_state(g.get_state())));
           })
      .def("__repr__",
           [](const Generator& g) { return "Generator(seed=" + std::to_string(g.seed()) + ")"; })
      .def("__copy__", [](const Generator& g) { return Generator(g); })
      .def("__deepcopy__", [](const Generator& g, nb::handle) { return Generator(g); });
  m.def(
      "default_generator", []() -> Generator& { return default_generator(); }, nb::rv_policy::reference,
      "The generator of draws without one.");
  m.def(
      "manual_seed", [](std::uint64_t seed) { manual_seed(seed); }, nb::arg("seed"),
      "Seeds the generator of draws without one.");
  m.def("initial_seed", [] { return default_generator().seed(); }, "The seed of the generator of draws without one.");
  m.def(
      "get_rng_state", [] { return tensor_of_state(get_rng_state()); },
      "get_state of the generator of draws without one.");
  m.def(
      "set_rng_state", [](nb::handle state) { set_rng_state(state_of(state, "set_rng_state")); }, nb::arg("new_state"),
      "set_state of the generator of draws without one.");

  nb::class_<Key> key(
      m, "Key",
      "Random numbers without a generator: a key says which, and says the same each time. A tree, which "
      "maps and stacks. Its methods draw; use a key once, and split it for what else is random.");
  key_type = reinterpret_cast<PyTypeObject*>(key.ptr());
  key.def(
         "__init__",
         [](Key* self, nb::handle seed) {
           if (is_tensor(seed.ptr())) new (self) Key(tensor_of(seed.ptr()));
           else if (is_int(seed.ptr())) new (self) Key(seed_from(seed.ptr()));
           else throw TypeError("Key: the seed must be an int, or another key's data, not " + name_of_type(seed.ptr()));
         },
         nb::arg("seed"))
      .def_prop_ro(
          "data", [](const Key& k) { return k.data; }, "int64 [..., 2].")
      .def(
          "split",
          [](const Key& k, nb::handle n) -> nb::object {
            Size count;
            if (n.is_none()) {
              const auto two = ops::split(k);
              return nb::make_tuple(two[0], two[1]);
            }
            if (!size_from(n.ptr(), count)) throw TypeError("split: n must be an int, not " + name_of_type(n.ptr()));
            return nb::cast(ops::split(k, count));
          },
          nb::arg("n") = nb::none(),
          "Two keys that have nothing in common; n of them, as one Key with an axis n in front.")
      .def(
          "__getitem__",
          [](const Key& k, nb::handle i) {
            if (is_int(i.ptr())) {
              std::int64_t place = 0;
              int_from(i.ptr(), place);
              return k[place];
            }
            if (is_tensor(i.ptr())) return k[tensor_of(i.ptr())];
            throw TypeError("Key: an index is an int or a Tensor of integers, not " + name_of_type(i.ptr()));
          },
          nb::arg("index"), "Of several keys the one at an index: key.split(10)[i]. a, b, c = key.split(3) works, too.")
      .def("__len__",
           [](const Key& k) {
             if (k.data.dim() == 1) throw TypeError("Key: a single key has no length; key.split(n) gives n of them");
             return k.data.size(0);
           })
      .def(
          "fold_in", [](const Key& k, const Tensor& number) { return ops::fold_in(k, number); }, nb::arg("number"),
          "A key for a number, of a step for one.")
      .def("__repr__", [](const Key& k) { return "Key(" + to_string(k.data) + ")"; })
      .def("__reduce__", [](const Key& k) {
        return nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(key_type)), nb::make_tuple(k.data));
      });
}

}  // namespace ricci::python
