// What concerns the library as a whole: files, threads, memory, printing, nests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <memory>

#include "ricci/build_info.h"
#include "ricci/error.h"
#include "ricci/io.h"
#include "ricci/memory.h"
#include "ricci/nest.h"
#include "ricci/ragged.h"
#include "ricci/ravel.h"
#include "ricci/threads.h"
#include "ricci/tree_names.h"
#include "scopes.h"
#include "sizes.h"
#include "transforms.h"
#include "tree.h"

namespace ricci::python {
namespace {

using Named = std::map<std::string, Tensor>;

Named named_from(nb::handle dict) {
  Named named;
  for (auto [name, tensor] : nb::cast<nb::dict>(dict)) {
    if (!PyUnicode_Check(name.ptr()) || !is_tensor(tensor.ptr()))
      throw TypeError("save: a dict from str to Tensor is needed; rc.named_leaves(tree) makes one");
    named.emplace(nb::cast<std::string>(name), tensor_of(tensor.ptr()));
  }
  return named;
}
nb::dict dict_of(const Named& named) {
  nb::dict dict;
  for (const auto& [name, tensor] : named) dict[name.c_str()] = wrapped(tensor);
  return dict;
}

thread_local Scopes<Inside> entered_nests;

/// `with rc.Inside(nest):`
struct PythonInside {
  explicit PythonInside(const Nest& n) : nest(n) {}
  PythonInside(const PythonInside&) = delete;
  ~PythonInside() {
    while (entered_nests.leave(this)) {}
  }
  Nest nest;
};

}  // namespace

void make_library(nb::module_& m) {
  m.def("load_npy", &load_npy, nb::arg("path"), "One array of a .npy file.");
  m.def("save_npy", &save_npy, nb::arg("path"), nb::arg("tensor"));
  m.def(
      "load_npz", [](const std::string& path) { return dict_of(load_npz(path)); }, nb::arg("path"),
      "The arrays of a .npz archive by name.");
  m.def(
      "save_npz", [](const std::string& path, nb::handle tensors) { save_npz(path, named_from(tensors)); },
      nb::arg("path"), nb::arg("tensors"));
  m.def(
      "load_safetensors", [](const std::string& path) { return dict_of(load_safetensors(path)); }, nb::arg("path"),
      "The tensors of a .safetensors file by name.");
  m.def(
      "save_safetensors",
      [](const std::string& path, nb::handle tensors) { save_safetensors(path, named_from(tensors)); }, nb::arg("path"),
      nb::arg("tensors"));
  m.def(
      "named_leaves", [](nb::handle tree) { return dict_of(named_leaves(tree_of(tree))); }, nb::arg("tree"),
      "The Tensors of a tree under their names, `layers[0].weight`.");
  m.def(
      "leaf_names",
      [](nb::handle tree) {
        nb::list list;
        for (const std::string& name : leaf_names(tree_of(tree))) list.append(nb::str(name.c_str()));
        return list;
      },
      nb::arg("tree"), "Where each Tensor of a tree is.");
  m.def(
      "load_leaves",
      [](nb::handle like, nb::handle named) {
        Tree loaded = tree_of(like);
        tree::Walk into;
        tree::walk(loaded, into);
        tree::load_leaves(into, named_from(named));
        return rebuild(loaded);
      },
      nb::arg("like"), nb::arg("named"), "A tree as `like`, with each Tensor replaced by the one of its name.");
  using UnravelTree = Unravel<Tree>;
  nb::class_<UnravelTree>(m, "Unravel", "The way back from a vector to a tree.")
      .def(
          "__call__", [](const UnravelTree& self, const Tensor& vector) { return rebuild(self(vector)); },
          nb::arg("vector"));
  m.def(
      "ravel_pytree",
      [](nb::handle tree) {
        const auto [vector, unravel] = ravel(tree_of(tree));
        return nb::make_tuple(vector, unravel);
      },
      nb::arg("tree"), "The elements of all leaves as one vector, without integers, and the way back.");

  m.def(
      "build_info", [] { return to_string(build_info()); },
      "Version, compiler, instructions, and the module that makes machine code, or why there is none.");
  m.def("num_threads", &num_threads, "The most threads that one operation uses.");
  m.def("set_num_threads", &set_num_threads, nb::arg("n"));
  m.def(
      "memory_stats",
      [] {
        const MemoryStats stats = memory_stats();
        nb::dict dict;
        dict["allocated"] = stats.allocated;
        dict["reserved"] = stats.reserved;
        dict["max_reserved"] = stats.max_reserved;
        return dict;
      },
      "Bytes that the library holds.");
  m.def("reset_peak_memory_stats", &reset_peak_memory_stats);
  m.def("empty_cache", &empty_cache, "Gives back to the system what is kept for the next tensors.");
  m.def("inside_transform", &inside_transform, "Whether a transform runs on this thread.");
  m.def(
      "set_print_options",
      [](nb::handle precision, nb::handle threshold, nb::handle edge_items) {
        PrintOptions options = print_options();
        const auto given = [](nb::handle o, std::int64_t otherwise) {
          if (!o.is_none() && !int_from(o.ptr(), otherwise))
            throw TypeError("set_print_options: an option must be an int, not " + name_of_type(o.ptr()));
          return otherwise;
        };
        options.precision = static_cast<int>(std::clamp<std::int64_t>(given(precision, options.precision), 0, 100));
        options.threshold = given(threshold, options.threshold);
        options.edge_items = given(edge_items, options.edge_items);
        set_print_options(options);
      },
      nb::kw_only(), nb::arg("precision") = nb::none(), nb::arg("threshold") = nb::none(),
      nb::arg("edge_items") = nb::none(), "How Tensors are printed.");

  nb::class_<Nest>(m, "Nest", "The transforms that a function runs under.");
  m.def("current_nest", &current_nest, "The transforms that run on this thread, for another one to enter.");
  nb::class_<PythonInside>(m, "Inside", "`with rc.Inside(nest):` runs this thread inside the nest.")
      .def(
          "__init__", [](PythonInside* self, const Nest& nest) { new (self) PythonInside(nest); }, nb::arg("nest"))
      .def("__enter__",
           [](nb::object self) {
             auto* const inside = nb::cast<PythonInside*>(self);
             entered_nests.enter(inside, std::make_unique<Inside>(inside->nest));
             return self;
           })
      .def("__exit__", [](PythonInside& self, nb::args) {
        if (!entered_nests.leave(&self))
          throw TransformError("Inside: it is left without having been entered on this thread; use `with`");
      });

  m.def("ragged_pad", [](const Tensor& values, const Tensor& offsets, const Tensor& fill) {
    return Ragged{values, offsets}.pad(fill);
  });
  const auto by_rows = [&m](const char* name, Tensor (Ragged::*f)() const) {
    m.def(name, [f](const Tensor& values, const Tensor& offsets) { return (Ragged{values, offsets}.*f)(); });
  };
  by_rows("ragged_lengths", &Ragged::lengths);
  by_rows("ragged_row_numbers", &Ragged::row_numbers);
  by_rows("ragged_sum", &Ragged::sum);
  by_rows("ragged_mean", &Ragged::mean);
  by_rows("ragged_max", &Ragged::max);
  by_rows("ragged_min", &Ragged::min);
  m.def("ragged_row",
        [](const Tensor& values, const Tensor& offsets, std::int64_t row) { return Ragged{values, offsets}[row]; });
}

}  // namespace ricci::python
