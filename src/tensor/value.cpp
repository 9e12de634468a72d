// Lifetimes of blocks, arrays and cells, and how a view follows its root.
#include "tensor/value.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

#include "ricci/primitive/pool.h"
#include "tensor/lent.h"
#include "tensor/outlived_thread_local.h"
#include "tensor/stand_ins.h"
#include "tensor/symbols.h"
#include "tensor/thread_context.h"

namespace ricci {
namespace {

constexpr std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
constexpr std::size_t cell_at = sizeof(Block);
constexpr std::size_t array_at = round_up(cell_at + sizeof(Cell));
constexpr std::size_t data_at = round_up(array_at + sizeof(Array));
static_assert(array_at == 64, "the cell of a value that is no array fits one line of the cache");

std::byte* bytes_of(Block* block) { return reinterpret_cast<std::byte*>(block); }

/// What the user wants done with memory that was lent, and who shows it.
struct Loan {
  void (*deleter)(void*, void*);
  void* context;
  void* data;
  Type type;
  Array* array;             // in the loan's block; null once it has ended
  bool has_handle = false;  // a cell in the loan's block
};

Loan& loan_in(Block* block) { return *std::launder(reinterpret_cast<Loan*>(bytes_of(block) + data_at)); }

Block* new_block(std::size_t bytes) {
  auto* block = new (pool::allocate(bytes)) Block;
  block->bytes = bytes;
  return block;
}

Tensor new_cell(Block* home, ValueRef value, Level birth) {
  return Tensor::adopt(new (bytes_of(home) + cell_at) Cell(birth, std::move(value)));
}

/// The common end: the cell and the array it alone holds live in one block that nobody else needs.
bool destroy_together(Cell* cell) {
  if (cell->link || !cell->value || cell->value->kind != ValueKind::array) return false;
  auto* array = static_cast<Array*>(cell->value.get());
  Block* home = home_of(cell);
  const bool alone = array->home == home && array->storage == home && array->refs.is(1) && home->refs.is(2);
  if (!alone) return false;
  cell->value.leak();
  array->~Array();
  cell->~Cell();
  home->refs.reset(1);
  home->release();
  return true;
}

/// Guards the list of a root's current views where there are threads: several may read views of one root at once.
class ListLock {
 public:
  explicit ListLock(const Cell* root) {
    if (!may_be_other_threads()) return;
    mutex_ = &mutexes[(reinterpret_cast<std::uintptr_t>(root) / 64) % mutexes.size()];
    mutex_->lock();
  }
  ListLock(const ListLock&) = delete;
  ~ListLock() {
    if (mutex_) mutex_->unlock();
  }

 private:
  static constinit std::array<std::mutex, 64> mutexes;
  std::mutex* mutex_ = nullptr;
};
constinit std::array<std::mutex, 64> ListLock::mutexes;

/// Requires: the list's lock is held, here and below.
void enter_list(Cell* view) {
  Link& link = *view->link;
  if (link.place || link.is_argument()) return;
  link.view = view;
  link.next = link.root->current;
  link.place = &link.root->current;
  if (link.next) link.next->place = &link.next;
  link.root->current = &link;
}

void leave_list(Link& link) {
  if (!link.place) return;
  *link.place = link.next;
  if (link.next) link.next->place = link.place;
  link.place = nullptr;
}

/// What the view was found to show, which it computes anew when it is read next.
ValueRef forget_value(Cell* view) {
  leave_list(*view->link);
  view->link->seen = Link::never;
  return std::exchange(view->value, {});
}

/// The views under `base` that nothing but the link of another view holds forget their values: each may be a copy of
/// all elements, and `y = y.t().reshape({-1, 3})` in a loop makes one a step. Those that somebody holds keep theirs.
void forget_unheld_views(Cell* base) {
  if (!base->link || base->link->is_argument()) return;
  constexpr int most_held = 8;  // in one expression; then the walk ends
  Values forgotten;             // ends without the lock
  const ListLock lock(base->link->root);
  int held = 0;
  for (Cell* c = base->link->base.cell(); c->link && !c->link->is_argument() && c->value; c = c->link->base.cell()) {
    if (c->refs.is(1)) forgotten.push_back(forget_value(c));
    else if (++held == most_held) return;
  }
}

struct LastSource {
  std::uint32_t number = 0;
  Source source;
};
/// A tensor that ends after it has none.
using LastSourceOfThread = OutlivedThreadLocal<LastSource>;

[[gnu::noinline]] void forget_source(std::uint32_t number) {
  LastSource* const last = LastSourceOfThread::get();
  if (!last || last->number != number) return;
  last->number = 0;
  const Source ends_last = std::exchange(last->source, {});
}

/// And the bases that only it has kept, one after the other: a chain of views may be longer than the stack is deep.
void destroy_cell(Cell* cell) {
  while (cell) {
    if (cell->source) [[unlikely]]
      forget_source(cell->source);
    if (destroy_together(cell)) return;
    Block* home = home_of(cell);
    if (cell->link && cell->link->root) {
      const ListLock lock(cell->link->root);
      leave_list(*cell->link);
    }
    Cell* base = cell->link ? cell->link->base.leak() : nullptr;
    delete cell->link;
    cell->~Cell();
    home->release();
    cell = base && base->refs.drop() ? base : nullptr;
  }
}

}  // namespace

void Block::release() noexcept {
  if (!refs.drop()) return;
  if (lends) {
    Loan& loan = loan_in(this);
    if (loan.deleter) loan.deleter(loan.context, loan.data);
    loan.~Loan();
  }
  pool::release(this, bytes);
}

void Array::destroy() noexcept {
  Block* where = home;
  Block* elements = storage;
  if (where->lends) [[unlikely]]
    loan_in(where).array = nullptr;
  this->~Array();
  if (elements != where) elements->release();
  where->release();
}

std::int64_t Array::numel() const {
  std::int64_t n = 1;
  for (int i = 0; i < type.rank(); ++i) n *= type.shape.host()[i];
  return n;
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides;
  strides.resize(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape.host()[i];
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t size = shape.host()[i];
    if (size == 0) return true;
    if (size != 1 && strides[i] != step) return false;
    step *= size;
  }
  return true;
}

bool overlaps_itself(const Shape& shape, const Strides& strides) {
  SmallVector<std::size_t, 6> axes;  // by stride, smallest first
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape.host()[i] == 0) return false;  // no element, whatever the strides
    if (shape.host()[i] > 1) axes.push_back(i);
  }
  std::sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t reach = 0;  // of the elements along the axes so far
  for (std::size_t i : axes) {
    if (strides[i] <= reach) return true;
    reach += strides[i] * (shape.host()[i] - 1);
  }
  return false;
}

TooLarge::TooLarge(const Type& type)
    : ValueError(to_string(type) + " has more elements than memory can hold; make it smaller") {}

/// Where memory runs out over a tensor of more than a gigabyte, its size is the user's mistake, and said so.
Block* new_large_block(const Type& type, std::size_t bytes) {
  constexpr std::size_t gigabyte = std::size_t{1} << 30;
  if (bytes < gigabyte) return new_block(bytes);
  try {
    return new_block(bytes);
  } catch (const std::bad_alloc&) { throw TooLarge(type); }
}

namespace {

/// Inlined into make_array, which every eager operation calls. Throws TooLarge.
inline std::int64_t checked_bytes(const Type& type) {
  constexpr std::int64_t address_space = std::int64_t{1} << 47;
  auto bytes = static_cast<std::int64_t>(element_size(type.dtype));
  for (Size size : type.shape)
    if (__builtin_mul_overflow(bytes, size.hint(), &bytes) || bytes > address_space || bytes < 0) throw TooLarge(type);
  return bytes;
}

}  // namespace

std::int64_t bytes_of(const Type& type) { return checked_bytes(type); }

ArrayRef make_array(const Type& type) {
  const std::int64_t bytes = checked_bytes(type);
  Strides strides = contiguous_strides(type.shape);
  Block* block = new_large_block(type, data_at + static_cast<std::size_t>(bytes));
  return ArrayRef::adopt(new (bytes_of(block) + array_at)
                             Array(type, std::move(strides), bytes_of(block) + data_at, block, block));
}

ArrayRef make_alias(const Array& base, Type type, Strides strides, void* data) {
  Block* block = new_block(data_at);
  base.storage->retain();
  return ArrayRef::adopt(new (bytes_of(block) + array_at)
                             Array(std::move(type), std::move(strides), data, base.storage, block));
}

ArrayRef make_lent(const Type& type, void* data, void (*deleter)(void*, void*), void* context) {
  Strides strides = contiguous_strides(type.shape);
  Block* block = new_block(data_at + sizeof(Loan));
  auto* array = new (bytes_of(block) + array_at) Array(type, std::move(strides), data, block, block);
  new (bytes_of(block) + data_at)
      Loan{.deleter = deleter, .context = context, .data = data, .type = type, .array = array};
  block->lends = true;
  return ArrayRef::adopt(array);
}

bool is_lent(const Array& array) { return array.storage->lends; }

ArrayRef lent_elements(const Cell& handle) {
  Block* block = home_of(&handle);
  if (!block->lends) return {};
  Loan& loan = loan_in(block);
  if (loan.array) return ArrayRef::share(loan.array);
  Strides strides = contiguous_strides(loan.type.shape);
  loan.array = new (bytes_of(block) + array_at) Array(loan.type, std::move(strides), loan.data, block, block);
  block->retain();
  return ArrayRef::adopt(loan.array);
}

Tensor make_tensor(ValueRef value, Level birth) {
  if (value && value->kind == ValueKind::array && value->refs.is(1)) {
    Block* home = static_cast<Array*>(value.get())->home;
    const bool is_taken = home->lends && std::exchange(loan_in(home).has_handle, true);
    if (home->refs.is(1) && !is_taken) {  // no cell lives there, and nobody else can see the block
      home->refs.reset(2);
      return new_cell(home, std::move(value), birth);
    }
  }
  return new_cell(new_block(array_at), std::move(value), birth);
}

Tensor make_view(ValueRef value, Level birth, Owned<Link> link) {
  const Cell* base = link->base.cell();
  link->root = root_of(link->base.cell());
  if (base->link) link->cut_below = std::max(link->cut_below, base->link->cut_below);
  if (base->link && !base->link->is_argument()) link->depth = base->link->depth + 1;
  Tensor view = make_tensor(std::move(value), birth);
  view.cell()->link = link.release();
  forget_unheld_views(view.cell()->link->base.cell());
  const ListLock lock(view.cell()->link->root);
  enter_list(view.cell());
  return view;
}

void throw_undefined() {
  throw ValueError(
      "an undefined tensor was used: it was declared but never given a value; "
      "assign it first, for example with rc::zeros");
}

namespace {

/// Brings a view's value up to date with version `now` of its base. Where several readers find it out of date, all
/// compute it and the first one's stays: the others may be reading that already.
void refresh(Cell* view, std::uint64_t now) {
  const Tensor& base = view->link->base;
  ValueRef of_base;
  while (!of_base) {  // another thread may make it forget its value meanwhile
    value_of(base);
    const ListLock lock(view->link->root);
    of_base = base.cell()->value;
  }
  ValueRef value = view->link->value_of(of_base);
  const ListLock lock(view->link->root);
  if (view->link->seen.load(std::memory_order_relaxed) == now) return;
  std::swap(view->value, value);
  enter_list(view);
  view->link->seen.store(now, std::memory_order_release);
}

/// The same for all views between it and its root, the root's first.
void refresh_chain(Cell* view, std::uint64_t now) {
  const SmallVector<Cell*, 8> views = views_to_root(view);
  const auto is_current = [=](const Cell* v) { return v->link->seen.load(std::memory_order_acquire) == now; };
  for (auto stale = std::find_if(views.begin(), views.end(), is_current); stale != views.begin();)
    refresh(*--stale, now);
}

}  // namespace

const ValueRef& own_value_of(const Tensor& tensor) {
  Cell* cell = tensor.cell();
  if (!cell) [[unlikely]]
    throw_undefined();
  if (!cell->link || cell->link->is_argument()) return cell->value;
  const std::uint64_t now = root_of(cell)->version;
  if (cell->link->seen.load(std::memory_order_acquire) != now) refresh_chain(cell, now);
  return cell->value;
}

namespace {

const ValueRef& shown_in_rule(const ValueRef& own) {
  for (const StandIns* all = this_thread.stand_ins->get(); all; all = all->outer.get())
    for (const StandIns::Pair& pair : all->pairs)
      if (pair.captured.get() == own.get()) return pair.operand;
  return own;
}

}  // namespace

const ValueRef& value_of(const Tensor& tensor) {
  const ValueRef& own = own_value_of(tensor);
  return this_thread.stand_ins && own->level != 0 ? shown_in_rule(own) : own;
}

Cell* root_of(Cell* cell) { return cell->link && !cell->link->is_argument() ? cell->link->root : cell; }

SmallVector<Cell*, 8> views_to_root(Cell* cell) {
  SmallVector<Cell*, 8> views;
  for (Cell* c = cell; c->link && !c->link->is_argument(); c = c->link->base.cell()) views.push_back(c);
  return views;
}

void forget_views(Cell* root) {
  for (Link* link = root->current; link;) {
    if (link->cut_of_base != 0 && link->seen == root->version) {
      link = link->next;
      continue;
    }
    forget_value(link->view);  // what ends with it may be other views
    link = root->current;
  }
}

void show(Cell* view, ValueRef value) noexcept {
  const ListLock lock(view->link->root);
  std::swap(view->value, value);
  if (!view->value) leave_list(*view->link);
  else enter_list(view);
  view->link->seen = view->value ? view->link->root->version : Link::never;
}

Array* sole_array(Cell* cell, const Value* reader) {
  if (cell->link || !cell->value || cell->value->kind != ValueKind::array) return nullptr;
  auto* array = static_cast<Array*>(cell->value.get());
  const auto* view = reader && reader->kind == ValueKind::array ? static_cast<const Array*>(reader) : nullptr;
  const bool is_read = view && view != array && view->storage == array->storage && view->refs.is(1);
  const std::uint32_t owners = 1U + (home_of(cell) == array->storage ? 1U : 0U) + (is_read ? 1U : 0U);
  const bool sole = array->refs.is(1) && array->storage->refs.is(owners) && array->storage == array->home &&
                    (!is_lent(*array) || home_of(cell) == array->storage);
  return sole ? array : nullptr;
}

void remember_source(const Tensor& result, Source source) {
  static constinit std::atomic<std::uint32_t> numbers = 0;
  LastSource* const last = LastSourceOfThread::get();
  if (!last) return;
  const std::uint32_t number = numbers.fetch_add(1, std::memory_order_relaxed) | 1U << 31;  // never 0
  result.cell()->source = number;
  last->number = number;
  std::swap(last->source, source);
}

const Source* source_of(const Tensor& tensor) {
  const std::uint32_t number = tensor.cell()->source;
  LastSource* const last = number != 0 ? LastSourceOfThread::get() : nullptr;
  return last && last->number == number ? &last->source : nullptr;
}

namespace ops {

void Tensor::release() {
  if (Cell* cell = leak(); cell->refs.drop()) destroy_cell(cell);
}

}  // namespace ops
}  // namespace ricci
