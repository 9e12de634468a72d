// Python functions as functions of C++ templates: trees in, trees out. They may be copied and dropped on any thread.
#pragma once

#include <utility>

#include "errors.h"
#include "tree.h"

namespace ricci::python {

/// `f(*parts of a tuple)`, or `f(one tree)`.
class Callback {
 public:
  Callback(nb::handle f, const char* user, bool spreads = false) : f_(nb::borrow(f)), user_(user), spreads_(spreads) {
    require_function(f, user);
  }

  /// What it returns for these, as a tree.
  template <class... A>
  Tree operator()(const A&... a) const {
    const nb::gil_scoped_acquire lock;
    return tree_of(returned(a...));
  }
  template <class... A>
  nb::object returned(const A&... a) const {
    if constexpr (sizeof...(A) == 1) {
      if (spreads_) return call(nb::handle(f_.get()), (object_of(a), ...));
    }
    return call(nb::handle(f_.get()), nb::make_tuple(object_of(a)...));
  }
  const char* user() const { return user_; }

 private:
  static nb::object object_of(const Tree& tree) { return rebuild(tree); }
  static nb::object object_of(const Tensor& tensor) { return wrapped(tensor); }
  Held f_;
  const char* user_;  // for errors: what was called with it
  bool spreads_;
};

/// The tree of what an equation is solved for, where `f` gives a tree like it. A number takes the dtype that f gives.
Tree unknown_of(const char* name, const Callback& f, nb::handle x);  // functions.cpp

/// One that gives a single Tensor, or a number that stands for one.
class TensorCallback {
 public:
  /// `wanted`: what errors say of its result, as `the condition must return a Tensor or a bool`.
  TensorCallback(nb::handle f, const char* user, const char* wanted) : f_(f, user), wanted_(wanted) {}
  template <class... A>
  Tensor operator()(const A&... a) const {
    const nb::gil_scoped_acquire lock;
    const nb::object returned = f_.returned(a...);
    Tensor number;
    if (is_tensor(returned.ptr())) return tensor_of(returned.ptr());
    if (!number_from(returned.ptr(), number))
      throw TypeError(std::string(f_.user()) + ": " + wanted_ + ", not " + name_of_type(returned.ptr()));
    return number;
  }

 private:
  Callback f_;
  const char* wanted_;
};

/// One that gives two trees.
class PairCallback {
 public:
  PairCallback(nb::handle f, const char* user, const char* wanted, bool spreads = false)
      : f_(f, user, spreads), wanted_(wanted) {}
  template <class... A>
  std::pair<Tree, Tree> operator()(const A&... a) const {
    const nb::gil_scoped_acquire lock;
    const nb::object returned = f_.returned(a...);
    if (!PyTuple_Check(returned.ptr()) || PyTuple_GET_SIZE(returned.ptr()) != 2)
      throw TypeError(std::string(f_.user()) + ": " + wanted_);
    return {tree_of(nb::handle(PyTuple_GET_ITEM(returned.ptr(), 0))),
            tree_of(nb::handle(PyTuple_GET_ITEM(returned.ptr(), 1)))};
  }

 private:
  Callback f_;
  const char* wanted_;
};

/// An object of these parts, again; an interrupt that C++ has dropped is raised.
inline nb::object given_back(const Tree& tree) {
  raise_dropped_interrupt();
  return rebuild(tree);
}

}  // namespace ricci::python
