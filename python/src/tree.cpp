// Trees of Python's containers.
#include "tree.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "errors.h"
#include "random.h"
#include "ricci/tree/unknowns.h"
#include "sizes.h"

namespace ricci::python {

/// How trees treat the objects of a class: as values, or as containers, which are taken apart and made again.
struct TypeInfo {
  enum class Kind : std::uint8_t { value, namedtuple, dataclass, registered };
  Kind kind = Kind::value;
  PyTypeObject* type = nullptr;
  std::string name;
  std::string_view shown;                     // the name, for walks
  std::vector<PyObject*> fields = {};         // interned names of fields
  std::vector<std::string> field_texts = {};  // the same
  std::vector<std::string_view> field_names = {};
  PyObject *flatten = nullptr, *unflatten = nullptr;
  PyObject* watch = nullptr;  // a weak reference to a class that Python may free; nodes of its objects hold the class
};

namespace {

/// What is known of each class. Registered classes stay; others leave when Python frees them. The interpreter's lock
/// guards it.
std::unordered_map<PyTypeObject*, TypeInfo*> types;

void add_fields(TypeInfo& info, nb::handle names) {
  for (nb::handle name : names) {
    info.fields.push_back(Py_NewRef(name.ptr()));
    info.field_texts.push_back(nb::cast<std::string>(name));
  }
  for (const std::string& text : info.field_texts) info.field_names.push_back(text);
}

TypeInfo* new_info(PyTypeObject* type) {
  auto* info = new TypeInfo;
  info->type = type;
  const std::string_view full = type->tp_name;
  info->name = full.substr(full.rfind('.') + 1);
  info->shown = info->name;
  return info;
}

/// Python frees a class, so no node holds it.
PyObject* forget_class(PyObject* self, PyObject* /*watch*/) noexcept {
  auto* const type = static_cast<PyTypeObject*>(PyCapsule_GetPointer(self, nullptr));
  const auto known = types.find(type);
  if (known != types.end() && known->second->watch) {
    TypeInfo* const info = known->second;
    types.erase(known);
    for (PyObject* field : info->fields) Py_DECREF(field);
    Py_DECREF(info->watch);
    delete info;
  }
  Py_RETURN_NONE;
}

/// Has forget_class called when Python frees the class. Built-in classes are never freed.
void watch_class(TypeInfo& info) {
  static PyMethodDef forget = {"forget_class", forget_class, METH_O, nullptr};
  if (!(info.type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return;
  const nb::object address = nb::steal(PyCapsule_New(info.type, nullptr, nullptr));
  const nb::object callback = nb::steal(PyCFunction_New(&forget, address.ptr()));
  info.watch = PyWeakref_NewRef(reinterpret_cast<PyObject*>(info.type), callback.ptr());
  if (!info.watch) throw nb::python_error();
}

TypeInfo* register_class(PyTypeObject* type, nb::handle flatten, nb::handle unflatten) {
  TypeInfo* const info = new_info(type);
  info->kind = TypeInfo::Kind::registered;
  info->flatten = Py_NewRef(flatten.ptr());
  info->unflatten = Py_NewRef(unflatten.ptr());
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  return info;
}

/// Registers the class of `o` as optree or JAX have registered it. Null if neither is imported, or neither knows the
/// class.
TypeInfo* register_as_elsewhere(PyObject* o) {
  const nb::object parts_of = nb::module_::import_("ricci._registries").attr("parts_of");
  const nb::object parts = call(parts_of, nb::make_tuple(nb::handle(o)));
  return parts.is_none() ? nullptr : register_class(Py_TYPE(o), parts[0], parts[1]);
}

/// The entry of a class; `o` is an object of the class, or null. optree and JAX answer questions about objects alone,
/// not about classes. Each further object of an unknown class is asked about again, because a class may be registered
/// late.
const TypeInfo* info_of(PyTypeObject* type, PyObject* o = nullptr) {
  const auto known = types.find(type);
  const bool is_known = known != types.end();
  if (is_known && known->second->kind != TypeInfo::Kind::value) return known->second;
  std::unique_ptr<TypeInfo> made(is_known ? nullptr : new_info(type));
  const nb::handle cls(reinterpret_cast<PyObject*>(type));
  if (made && PyType_IsSubtype(type, &PyTuple_Type) && nb::hasattr(cls, "_fields")) {
    made->kind = TypeInfo::Kind::namedtuple;
    add_fields(*made, cls.attr("_fields"));
  } else if (made && nb::hasattr(cls, "__dataclass_fields__")) {
    made->kind = TypeInfo::Kind::dataclass;
    nb::list names;
    for (nb::handle field : nb::module_::import_("dataclasses").attr("fields")(cls)) names.append(field.attr("name"));
    add_fields(*made, names);
  } else if (o && (type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
    // Trees that were read before keep the old one.
    if (TypeInfo* const registered = register_as_elsewhere(o)) return types[type] = registered;
  }
  if (is_known) return types.at(type);
  watch_class(*made);
  return types[type] = made.release();
}

using NodeKind = TreeNode::Kind;

/// One more level of containers, while it is read. RecursionError where they are too many: a list may hold itself.
class Deeper {
 public:
  Deeper() {
    if (Py_EnterRecursiveCall(" in a tree, which holds itself or is too deep") != 0) throw nb::python_error();
  }
  Deeper(const Deeper&) = delete;
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

/// The keys of a dict, in the dict's order and in sorted order. Trees use the sorted order, so that two dicts with the
/// same keys have the same tree. Texts and ints are sorted as such, other keys by the names of their classes, then as
/// texts.
struct DictKeys {
  explicit DictKeys(PyObject* dict) : list(nb::steal(PyDict_Keys(dict))) {
    if (!list.is_valid()) throw nb::python_error();
    count = static_cast<std::size_t>(PyList_GET_SIZE(list.ptr()));
    std::vector<std::string_view> names_by_place;
    bool are_ints = true, are_texts = true;
    for (std::size_t i = 0; i < count; ++i) {
      nb::object text = nb::borrow(key(i));
      are_ints &= PyLong_CheckExact(text.ptr()) != 0;
      if (!PyUnicode_Check(text.ptr())) {
        are_texts = false;
        text = nb::str(text);
        texts.append(text);
      }
      Py_ssize_t length = 0;
      const char* const letters = PyUnicode_AsUTF8AndSize(text.ptr(), &length);
      if (!letters) throw nb::python_error();
      names_by_place.emplace_back(letters, static_cast<std::size_t>(length));
    }
    const auto less = [&](std::uint32_t a, std::uint32_t b) {
      if (are_ints) return PyObject_RichCompareBool(key(a), key(b), Py_LT) == 1;
      if (are_texts) return names_by_place[a] < names_by_place[b];
      const std::string_view class_a = Py_TYPE(key(a))->tp_name, class_b = Py_TYPE(key(b))->tp_name;
      return class_a != class_b ? class_a < class_b : names_by_place[a] < names_by_place[b];
    };
    bool is_sorted = true;
    for (std::uint32_t i = 1; i < count; ++i) is_sorted &= !less(i, i - 1);
    if (is_sorted) {
      names = std::move(names_by_place);
      return;
    }
    order.resize(count);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, less);
    for (const std::uint32_t i : order) names.push_back(names_by_place[i]);
  }
  PyObject* key(std::size_t i) const { return PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i)); }
  PyObject* in_order(std::size_t i) const { return key(order.empty() ? i : order[i]); }

  nb::object list;
  std::size_t count = 0;
  std::vector<std::uint32_t> order;     // places in `list`, where that is not in order
  std::vector<std::string_view> names;  // in order
  nb::list texts;                       // of keys that are no texts; `names` point into these and into the keys
};

nb::object copied(nb::handle object) { return nb::module_::import_("copy").attr("copy")(object); }

/// Takes an object apart.
struct Reader {
  Tree& tree;
  Structure& structure;
  std::vector<PyObject*>* objects;
  const Structure* like;
  std::size_t like_at = 0;  // the node of `like` that stands here
  bool is_alike = true;     // whether `like` still has the same nodes

  TreeNode& node(NodeKind kind, std::size_t children, const TypeInfo* type = nullptr) {
    if (like && is_alike) {
      const std::size_t at = like_at++;
      is_alike = at < like->nodes.size() && like->nodes[at].children == children &&
                 (like->nodes[at].kind == kind || (children == 0 && kind != NodeKind::none));
    }
    structure.nodes.push_back({.kind = kind, .children = static_cast<std::uint32_t>(children), .type = type});
    TreeNode& made = structure.nodes.back();
    if (type && type->watch) made.keys = Held(nb::borrow(reinterpret_cast<PyObject*>(type->type)));
    return made;
  }
  /// Whether None is read where `like` has something else.
  bool stands_for_all() const {
    return like && is_alike && like_at < like->nodes.size() && like->nodes[like_at].kind != NodeKind::none;
  }
  /// Copies the node of `like` and all below it, with undefined Tensors as leaves and None as values.
  void read_nothing() {
    for (std::size_t open = 1; open > 0; --open) {
      const TreeNode& n = like->nodes[like_at++];
      open += n.children;
      structure.nodes.push_back(n);
      if (n.kind == NodeKind::tensor) {
        tree.leaves.emplace_back();
        if (objects) objects->push_back(nullptr);
      }
      if (n.kind == NodeKind::value) tree.values.emplace_back(nb::none());
    }
  }

  void read(PyObject* o) {
    if (is_tensor(o)) {
      node(NodeKind::tensor, 0);
      tree.leaves.push_back(tensor_of(o));
      if (objects) objects->push_back(o);
    } else if (o == Py_None) {
      if (stands_for_all()) read_nothing();
      else node(NodeKind::none, 0);
    } else if (PyTuple_CheckExact(o) || PyList_CheckExact(o)) {
      read_items(PyTuple_CheckExact(o) ? NodeKind::tuple : NodeKind::list, o, nullptr);
    } else if (PyDict_Check(o)) {
      read_dict(o);
    } else if (is_key(o)) {
      node(NodeKind::key, 1);
      node(NodeKind::tensor, 0);
      tree.leaves.push_back(key_data_from(o));
      if (objects) objects->push_back(nullptr);
    } else {
      read_other(o);
    }
  }

 private:
  void read_items(NodeKind kind, PyObject* list, const TypeInfo* type) {
    const Deeper deeper;
    node(kind, static_cast<std::size_t>(PySequence_Fast_GET_SIZE(list)), type);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
      // Reading an item may run Python (flatten of a class), which may change the list: so the item is held.
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(list, i));
      read(item.ptr());
    }
  }

  void read_dict(PyObject* dict) {
    const Deeper deeper;
    DictKeys keys(dict);
    std::vector<nb::object> parts;
    for (std::size_t i = 0; i < keys.count; ++i) {
      PyObject* const part = PyDict_GetItemWithError(dict, keys.in_order(i));
      if (!part) throw TypeError("a dict in a tree was changed by the comparison of its keys, or lacks a key it lists");
      parts.push_back(nb::borrow(part));
    }
    const bool is_plain = PyDict_CheckExact(dict) != 0;
    TreeNode& n = node(NodeKind::dict, keys.count, is_plain ? nullptr : info_of(Py_TYPE(dict)));
    n.order = std::move(keys.order);
    n.names = std::move(keys.names);
    // An object of a subclass of dict may keep more than its items (defaultdict), so an empty copy of it is kept.
    if (is_plain && nb::len(keys.texts) == 0) {
      n.keys = Held(std::move(keys.list));
    } else if (is_plain) {
      n.keys = Held(nb::object(nb::make_tuple(keys.list, keys.texts)));
    } else {
      const nb::object empty = copied(dict);
      empty.attr("clear")();
      n.keys = Held(nb::object(nb::make_tuple(keys.list, keys.texts, empty)));
    }
    for (const nb::object& part : parts) read(part.ptr());
  }

  void read_other(PyObject* o) {
    const TypeInfo* const info = info_of(Py_TYPE(o), o);
    switch (info->kind) {
      case TypeInfo::Kind::namedtuple: return read_items(NodeKind::made, o, info);
      case TypeInfo::Kind::dataclass: {
        const Deeper deeper;
        node(NodeKind::made, info->fields.size(), info);
        for (PyObject* field : info->fields) {
          const nb::object part = nb::steal(PyObject_GetAttr(o, field));
          if (!part.is_valid()) throw_raised();
          read(part.ptr());
        }
        return;
      }
      case TypeInfo::Kind::registered: {
        const Deeper deeper;
        const nb::object given = call(info->flatten, nb::make_tuple(nb::handle(o)));
        if (!PyTuple_Check(given.ptr()) || PyTuple_GET_SIZE(given.ptr()) != 2)
          throw TypeError("register_tree: flatten of " + info->name + " must return (children, rest)");
        const nb::tuple children = nb::borrow<nb::tuple>(nb::steal(PySequence_Tuple(PyTuple_GET_ITEM(given.ptr(), 0))));
        node(NodeKind::made, nb::len(children), info).keys = Held(nb::object(given[1]));
        for (nb::handle child : children) read(child.ptr());
        return;
      }
      case TypeInfo::Kind::value: break;
    }
    if (PyTuple_Check(o) || PyList_Check(o)) return read_items(NodeKind::made, o, info);  // of a subclass
    node(NodeKind::value, 0, info);
    tree.values.emplace_back(nb::borrow(o));
  }
};

/// Puts an object together again.
class Writer {
 public:
  Writer(const Tree& tree, const std::function<nb::object(std::size_t)>* leaf, std::span<PyObject* const> known)
      : tree_(tree), leaf_(leaf), known_(known) {
    if (known.size() < 8 || tree.leaves.size() < 8) return;
    for (PyObject* o : known)
      if (o && is_tensor(o)) by_cell_.try_emplace(tensor_of(o).cell(), o);
  }

  nb::object write() {
    const TreeNode& n = tree_.structure->nodes[node_++];
    switch (n.kind) {
      case NodeKind::tensor: return write_leaf();
      case NodeKind::value: return nb::borrow(tree_.values[value_++].get());
      case NodeKind::none: return nb::none();
      case NodeKind::tuple: return write_tuple(n);
      case NodeKind::list: {
        nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(n.children)));
        for (std::uint32_t i = 0; i < n.children; ++i)
          PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), write().release().ptr());
        return list;
      }
      case NodeKind::dict: return write_dict(n);
      case NodeKind::key: {
        nb::object data = write();
        return is_tensor(data.ptr()) ? wrap_key(tensor_of(data.ptr())) : data;
      }
      case NodeKind::made: return write_made(n);
    }
    return nb::none();
  }

 private:
  nb::object write_leaf() {
    const std::size_t i = leaf_at_++;
    if (leaf_) return (*leaf_)(i);
    const Tensor& leaf = tree_.leaves[i];
    if (!by_cell_.empty()) {
      const auto at = by_cell_.find(leaf.cell());
      return at == by_cell_.end() ? wrapped(leaf) : nb::borrow(at->second);
    }
    for (PyObject* o : known_)
      if (o && is_tensor(o) && tensor_of(o).is_same(leaf)) return nb::borrow(o);
    return wrapped(leaf);
  }
  nb::object write_tuple(const TreeNode& n) {
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(n.children)));
    for (std::uint32_t i = 0; i < n.children; ++i)
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), write().release().ptr());
    return tuple;
  }
  nb::object write_dict(const TreeNode& n) {
    std::vector<nb::object> parts(n.children);
    for (std::uint32_t i = 0; i < n.children; ++i) parts[n.order.empty() ? i : n.order[i]] = write();
    PyObject* keys = n.keys.get();
    nb::object dict;
    if (n.type) dict = copied(PyTuple_GET_ITEM(keys, 2));
    else dict = nb::dict();
    if (PyTuple_Check(keys)) keys = PyTuple_GET_ITEM(keys, 0);
    for (std::uint32_t i = 0; i < n.children; ++i)
      if (PyObject_SetItem(dict.ptr(), PyList_GET_ITEM(keys, static_cast<Py_ssize_t>(i)), parts[i].ptr()) != 0)
        throw nb::python_error();
    return dict;
  }
  nb::object write_made(const TreeNode& n) {
    const TypeInfo& info = *n.type;
    const nb::handle cls(reinterpret_cast<PyObject*>(info.type));
    const nb::object parts = write_tuple(n);
    switch (info.kind) {
      case TypeInfo::Kind::namedtuple: return call(cls, parts);
      case TypeInfo::Kind::dataclass: {
        // __init__ is not called: it may do more than set the fields.
        nb::object object = cls.attr("__new__")(cls);
        for (std::size_t i = 0; i < info.fields.size(); ++i)
          if (PyObject_GenericSetAttr(object.ptr(), info.fields[i],
                                      PyTuple_GET_ITEM(parts.ptr(), static_cast<Py_ssize_t>(i))) != 0)
            throw nb::python_error();
        return object;
      }
      case TypeInfo::Kind::registered: return call(info.unflatten, nb::make_tuple(nb::handle(n.keys.get()), parts));
      case TypeInfo::Kind::value: return call(cls, nb::make_tuple(parts));  // a subclass of tuple or list
    }
    return nb::none();
  }

  const Tree& tree_;
  const std::function<nb::object(std::size_t)>* leaf_;
  std::span<PyObject* const> known_;
  std::unordered_map<const void*, PyObject*> by_cell_;  // the known objects, by their tensors, where they are many
  std::size_t node_ = 0, leaf_at_ = 0, value_ = 0;
};

/// Whether two Python values have the same type and are equal. NaN equals NaN here, and 0.0 is not -0.0.
bool are_equal(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a)) {
    const double l = PyFloat_AS_DOUBLE(a), r = PyFloat_AS_DOUBLE(b);
    return tree::are_equal_values<double>(&l, &r);
  }
  if (PyTuple_CheckExact(a)) {
    if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); ++i)
      if (!are_equal(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
    return true;
  }
  if (const nb::object item = numpy_item(a); item.is_valid() && !numpy_item(item.ptr()).is_valid())
    return are_equal(item.ptr(), numpy_item(b).ptr());
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();  // == of an array gives an array: only the same array is equal
  return equal == 1;
}

/// The keys of a dict's node, in the dict's own order.
PyObject* keys_of(const TreeNode& dict) {
  PyObject* const keys = dict.keys.get();
  return PyTuple_Check(keys) ? PyTuple_GET_ITEM(keys, 0) : keys;
}

bool have_equal_keys(const TreeNode& a, const TreeNode& b) {
  PyObject *const l = keys_of(a), *const r = keys_of(b);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(l); ++i)
    if (!are_equal(PyList_GET_ITEM(l, i), PyList_GET_ITEM(r, i))) return false;
  return true;
}

tree::NodeKind kind_in_walk(const TreeNode& n) {
  switch (n.kind) {
    case NodeKind::tensor: return tree::NodeKind::tensor;
    case NodeKind::value: return tree::NodeKind::value;
    case NodeKind::none: return tree::NodeKind::nothing;
    case NodeKind::list: return tree::NodeKind::list;
    case NodeKind::dict: return tree::NodeKind::map;
    case NodeKind::made: return n.type->field_names.empty() ? tree::NodeKind::tuple : tree::NodeKind::fields;
    case NodeKind::tuple:
    case NodeKind::key: break;
  }
  return tree::NodeKind::tuple;
}

void walk_tree(const Tree& tree, tree::Walk& into) {
  if (!tree.structure) return into.node(tree::NodeKind::nothing, 0);
  into.nodes.reserve(into.nodes.size() + tree.structure->nodes.size());
  into.leaves.reserve(into.leaves.size() + tree.leaves.size());
  std::size_t leaf = 0;
  for (const TreeNode& n : tree.structure->nodes) {
    const tree::NodeKind kind = kind_in_walk(n);
    if (kind == tree::NodeKind::tensor) {
      into.tensor(&tree.leaves[leaf++]);
    } else if (kind == tree::NodeKind::value) {
      into.value(&n.type->shown);
    } else {
      into.node(kind, n.children, kind == tree::NodeKind::fields ? n.type->field_names.data() : nullptr);
      for (const std::string_view name : n.names) into.key(name);
    }
  }
}

}  // namespace

const tree::ValueType held_value = {
    .copy = [](const void* value) -> std::shared_ptr<const void> {
      return std::make_shared<const Held>(*static_cast<const Held*>(value));
    },
    .equal =
        [](const void* left, const void* right) {
          const nb::gil_scoped_acquire lock;
          return are_equal(static_cast<const Held*>(left)->get(), static_cast<const Held*>(right)->get());
        },
    .assign = [](void* to, const void* from) { *static_cast<Held*>(to) = *static_cast<const Held*>(from); },
};

bool Structure::operator==(const Structure& other) const {
  const auto same = [](const TreeNode& a, const TreeNode& b) {
    if (a.kind != b.kind || a.children != b.children || a.names != b.names) return false;
    if (a.kind == NodeKind::value) return true;  // values are compared on their own
    if (a.type != b.type) return false;
    if (a.kind == NodeKind::dict) return a.order == b.order && have_equal_keys(a, b);  // functions can see the order
    return a.kind != NodeKind::made || a.keys.get() == b.keys.get() ||
           (a.keys.get() && b.keys.get() && are_equal(a.keys.get(), b.keys.get()));
  };
  return std::ranges::equal(nodes, other.nodes, same);
}

Tree tree_of(nb::handle object, const Structure* like, std::vector<PyObject*>* objects) {
  Tree tree;
  auto structure = std::make_shared<Structure>();
  Reader{tree, *structure, objects, like}.read(object.ptr());
  tree.structure = std::move(structure);
  return tree;
}

Tree with_numbers_as_tensors(const Tree& given) {
  Tree tree;
  Structure structure = *given.structure;
  std::size_t leaf = 0, value = 0;
  for (TreeNode& n : structure.nodes) {
    if (n.kind == NodeKind::tensor) tree.leaves.push_back(given.leaves[leaf++]);
    if (n.kind != NodeKind::value) continue;
    const Held& o = given.values[value++];
    Tensor number;
    if (!PyBool_Check(o.get()) && !is_size(o.get()) && number_from(o.get(), number)) {
      n = {.kind = NodeKind::tensor};
      tree.leaves.push_back(is_differentiable(number.dtype()) ? number : Tensor(number.item<double>()));
    } else {
      tree.values.push_back(o);
    }
  }
  tree.structure = std::make_shared<const Structure>(std::move(structure));
  return tree;
}

Tree unknowns_of(const char* name, const Tree& given) {
  Tree tree = with_numbers_as_tensors(given);
  tree::Walk walk;
  tree::walk(tree, walk);
  tree::require_unknowns(name, walk);
  return tree;
}

nb::object rebuild(const Tree& tree, std::span<PyObject* const> known) { return Writer(tree, nullptr, known).write(); }
nb::object rebuild_with(const Tree& tree, const std::function<nb::object(std::size_t)>& leaf) {
  return Writer(tree, &leaf, {}).write();
}

Tree joined(std::span<const Tree> parts) {
  Tree tree;
  auto structure = std::make_shared<Structure>();
  structure->nodes.push_back({.kind = NodeKind::tuple, .children = static_cast<std::uint32_t>(parts.size())});
  for (const Tree& part : parts) {
    tree.leaves.insert(tree.leaves.end(), part.leaves.begin(), part.leaves.end());
    tree.values.insert(tree.values.end(), part.values.begin(), part.values.end());
    structure->nodes.insert(structure->nodes.end(), part.structure->nodes.begin(), part.structure->nodes.end());
  }
  tree.structure = std::move(structure);
  return tree;
}

std::vector<Tree> parts_of(const Tree& tuple) {
  std::vector<Tree> parts;
  const auto& nodes = tuple.structure->nodes;
  std::size_t node = 1, leaf = 0, value = 0;
  for (std::uint32_t i = 0; i < nodes[0].children; ++i) {
    Tree part;
    auto structure = std::make_shared<Structure>();
    for (std::size_t open = 1; open > 0; ++node) {
      const TreeNode& n = nodes[node];
      open += n.children;
      --open;
      if (n.kind == NodeKind::tensor) part.leaves.push_back(tuple.leaves[leaf++]);
      if (n.kind == NodeKind::value) part.values.push_back(tuple.values[value++]);
      structure->nodes.push_back(n);
    }
    part.structure = std::move(structure);
    parts.push_back(std::move(part));
  }
  return parts;
}

Dims dims_from(nb::handle o, const char* name) {
  std::int64_t axis = 0;
  if (o.is_none()) return Dims(std::nullopt);
  if (PyLong_Check(o.ptr()) && int_from(o.ptr(), axis)) return Dims(axis);
  const Deeper deeper;
  std::vector<Dims> parts;
  if (PyTuple_Check(o.ptr()) || PyList_Check(o.ptr())) {
    for (nb::handle part : nb::borrow<nb::object>(o)) parts.push_back(dims_from(part, name));
    return Dims(std::move(parts));
  }
  if (PyDict_Check(o.ptr())) {
    const DictKeys keys(o.ptr());
    for (std::size_t i = 0; i < keys.count; ++i)
      parts.push_back(dims_from(nb::handle(PyDict_GetItem(o.ptr(), keys.in_order(i))), name));
    return Dims(std::move(parts));
  }
  const TypeInfo* const info = info_of(Py_TYPE(o.ptr()));
  if (info->kind == TypeInfo::Kind::dataclass) {
    for (PyObject* field : info->fields) parts.push_back(dims_from(o.attr(nb::handle(field)), name));
    return Dims(std::move(parts));
  }
  throw TypeError(std::string("vmap: ") + name + " must be an int, None, or tuples, lists and dicts of those, not " +
                  name_of_type(o.ptr()));
}

namespace {

/// Walks dims and a tree side by side and compares the keys of dicts. Where their structures differ, it goes on behind
/// that part: vmap in C++ reports it.
class KeyCheck {
 public:
  KeyCheck(const Structure& tree, const char* name) : tree_(tree), name_(name) {}

  void check(nb::handle dims) {
    const TreeNode& n = tree_.nodes[at_];
    if (PyDict_Check(dims.ptr())) return check_dict(dims, n);
    const bool is_list = PyTuple_Check(dims.ptr()) || PyList_Check(dims.ptr());
    const TypeInfo* const info = is_list || dims.is_none() ? nullptr : info_of(Py_TYPE(dims.ptr()));
    if (is_list && PySequence_Fast_GET_SIZE(dims.ptr()) == static_cast<Py_ssize_t>(n.children)) {
      ++at_;
      for (std::uint32_t i = 0; i < n.children; ++i)
        check(nb::handle(PySequence_Fast_GET_ITEM(dims.ptr(), static_cast<Py_ssize_t>(i))));
    } else if (info && info->kind == TypeInfo::Kind::dataclass && info->fields.size() == n.children) {
      ++at_;
      for (PyObject* field : info->fields) check(dims.attr(nb::handle(field)));
    } else {
      for (std::size_t open = 1; open > 0; --open) open += tree_.nodes[at_++].children;
    }
  }

 private:
  void check_dict(nb::handle dims, const TreeNode& n) {
    if (n.kind == NodeKind::none) return void(++at_);
    if (n.kind != NodeKind::dict)
      throw ValueError(std::string("vmap: ") + name_ + " has a dict where the tree has none; give the axes in the " +
                       "form of the tree, in_dims as a tuple with one part for each argument");
    const DictKeys keys(dims.ptr());
    PyObject* const own = keys_of(n);
    const auto key = [&](std::size_t i) {
      return PyList_GET_ITEM(own, static_cast<Py_ssize_t>(n.order.empty() ? i : n.order[i]));
    };
    bool are_same = keys.count == n.children;
    for (std::size_t i = 0; are_same && i < keys.count; ++i) are_same = are_equal(keys.in_order(i), key(i));
    if (!are_same)
      throw ValueError(std::string("vmap: ") + name_ + " has the keys " + nb::cast<std::string>(nb::repr(keys.list)) +
                       ", the tree has " + nb::cast<std::string>(nb::repr(nb::handle(own))) +
                       "; name each key once, with None where it is not mapped");
    ++at_;
    for (std::size_t i = 0; i < keys.count; ++i) check(nb::handle(PyDict_GetItem(dims.ptr(), keys.in_order(i))));
  }

  const Structure& tree_;
  const char* name_;
  std::size_t at_ = 0;
};

}  // namespace

bool has_dict(nb::handle dims) {
  const Deeper deeper;
  if (PyDict_Check(dims.ptr())) return true;
  if (PyTuple_Check(dims.ptr()) || PyList_Check(dims.ptr())) {
    for (nb::handle part : nb::borrow<nb::object>(dims))
      if (has_dict(part)) return true;
    return false;
  }
  if (dims.is_none() || PyLong_Check(dims.ptr())) return false;
  const TypeInfo* const info = info_of(Py_TYPE(dims.ptr()));
  return info->kind == TypeInfo::Kind::dataclass &&
         std::ranges::any_of(info->fields, [&](PyObject* f) { return has_dict(dims.attr(nb::handle(f))); });
}

void require_keys(nb::handle dims, const Structure& tree, const char* name) { KeyCheck(tree, name).check(dims); }

nb::object dims_to(const Dims& dims) {
  if (dims.leaf) return dims.dim ? nb::object(nb::int_(*dims.dim)) : nb::none();
  nb::list parts;
  for (const Dims& part : dims.children) parts.append(dims_to(part));
  return nb::tuple(parts);
}

void make_trees(nb::module_& m) {
  m.def(
      "register_tree",
      [](nb::handle cls, nb::handle flatten, nb::handle unflatten) {
        if (!PyType_Check(cls.ptr()))
          throw TypeError("register_tree: a class is needed, not " + name_of_type(cls.ptr()));
        for (nb::handle f : {flatten, unflatten}) require_function(f, "register_tree");
        auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
        types[type] = register_class(type, flatten, unflatten);  // trees that were read before keep the old one
      },
      nb::arg("cls"), nb::arg("flatten"), nb::arg("unflatten"),
      "Makes a class a container: flatten(object) returns (children, rest), unflatten(rest, children) the object "
      "again.");
  m.def(
      "leaves",
      [](nb::handle tree) {
        nb::list list;
        for (const Tensor& leaf : tree_of(tree).leaves) list.append(wrapped(leaf));
        return list;
      },
      nb::arg("tree").none(), "The Tensors of a tree, from left to right; of a dict in the order of its keys.");
  m.def(
      "_unknowns_of",
      [](const std::string& name, nb::handle tree) { return rebuild(unknowns_of(name.c_str(), tree_of(tree))); },
      nb::arg("name"), nb::arg("tree").none(),
      "The tree with its numbers as Tensors; TypeError if it has leaves and none is of a floating dtype.");
  m.def(
      "map_leaves",
      [](nb::handle f, nb::handle tree, nb::args more) {
        Tree first = tree_of(tree);
        std::vector<Tree> others;
        for (nb::handle other : more) others.push_back(tree_of(other));
        tree::Walk walk;
        tree::walk(first, walk);
        for (std::size_t k = 0; k < others.size(); ++k) {
          tree::Walk other;
          tree::walk(others[k], other);
          tree::require_same_structure("map_leaves", walk, other, k + 2);
        }
        return rebuild_with(first, [&](std::size_t i) {
          nb::list arguments;
          arguments.append(wrapped(first.leaves[i]));
          for (const Tree& other : others) arguments.append(wrapped(other.leaves[i]));
          return call(f, nb::tuple(arguments));
        });
      },
      nb::arg("f"), nb::arg("tree").none(), nb::arg("more"),
      "The first tree with each Tensor replaced by f(that Tensor, the Tensors at its place in the other trees).");
  m.def(
      "stack_trees",
      [](nb::handle trees) {
        std::vector<Tree> all;
        for (nb::handle t : trees) all.push_back(tree_of(t));
        return rebuild(stack_trees(all));
      },
      nb::arg("trees"), "One tree of many: every Tensor gains axis 0, of the number of trees.");
  m.def(
      "unstack_trees",
      [](nb::handle tree) {
        nb::list list;
        for (const Tree& one : unstack_trees(tree_of(tree))) list.append(rebuild(one));
        return list;
      },
      nb::arg("tree"), "The reverse of stack_trees: one tree for each index of axis 0, as views.");
}

}  // namespace ricci::python

namespace ricci::tree {
template <>
void walk(python::Tree& tree, Walk& into) {
  python::walk_tree(tree, into);
}
template <>
void walk(const python::Tree& tree, Walk& into) {
  python::walk_tree(tree, into);
}
template <>
void list_values(python::Tree& tree, Values& into) {
  for (python::Held& value : tree.values) into.push_back({&value, &python::held_value});
}
template <>
void list_values(const python::Tree& tree, Values& into) {
  for (const python::Held& value : tree.values)
    into.push_back({const_cast<python::Held*>(&value), &python::held_value});
}
}  // namespace ricci::tree
