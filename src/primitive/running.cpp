// Each thread notes the transforms it runs in a table of its own, so that entering one waits for no other thread.
// Tables are never freed: one whose thread has ended serves the next thread.
#include "primitive/running.h"

#include <array>
#include <atomic>
#include <bit>

#include "ricci/primitive/raise.h"
#include "tensor/outlived_thread_local.h"
#include "tensor/thread_context.h"

namespace ricci {

struct RunningTable {
  struct Row {
    std::atomic<Level> level = 0;
    std::atomic<const char*> name = nullptr;
    std::atomic<const char*> file = "";
    std::atomic<unsigned> line = 0;
    Level ended_level = 0;  // of the one before, and how errors name it; both for the table's thread alone
    Entry ended = {};
  };
  std::array<Row, 64> rows;
  std::atomic<std::uint64_t> taken = 0;  // written by the table's thread alone
  unsigned last = 0;                     // the row taken last: the others still say what has ended
  std::atomic<bool> in_use = true;
  RunningTable* more = nullptr;  // of the same thread, where the rows were not enough
  RunningTable* next = nullptr;  // of all tables
};

namespace {

constinit std::atomic<RunningTable*> all_tables = nullptr;

/// Gives the tables of a thread that ends to others. One with rows still taken, by tapes that outlive their thread,
/// stays.
struct TablesOfThread {
  ~TablesOfThread() {
    for (RunningTable* table = this_thread.tables; table;) {
      RunningTable* const more = table->more;
      table->more = nullptr;
      if (table->taken.load(std::memory_order_relaxed) == 0) table->in_use.store(false, std::memory_order_release);
      table = more;
    }
    this_thread.tables = nullptr;
  }
};

/// One more table for this thread.
RunningTable* take_table() {
  for (RunningTable* table = all_tables.load(std::memory_order_acquire); table; table = table->next) {
    bool free = false;
    if (table->in_use.compare_exchange_strong(free, true, std::memory_order_acquire)) return table;
  }
  auto* table = new RunningTable;
  table->next = all_tables.load(std::memory_order_relaxed);
  while (!all_tables.compare_exchange_weak(table->next, table, std::memory_order_acq_rel)) {}
  return table;
}

RunningTable* table_with_room() {
  for (RunningTable* table = this_thread.tables; table; table = table->more)
    if (table->taken.load(std::memory_order_relaxed) != ~std::uint64_t{0}) return table;
  RunningTable* table = take_table();
  table->more = this_thread.tables;
  this_thread.tables = table;
  OutlivedThreadLocal<TablesOfThread>::get();  // makes it, so that it is destroyed with the thread
  return table;
}

bool is_own(const RunningTable* table) {
  for (const RunningTable* own = this_thread.tables; own; own = own->more)
    if (own == table) return true;
  return false;
}

RunningTable::Row* find_row(Level level, bool among_own) {
  for (RunningTable* table = all_tables.load(std::memory_order_acquire); table; table = table->next) {
    std::uint64_t rows = table->taken.load(std::memory_order_acquire);
    if (rows == 0 || (!among_own && is_own(table))) continue;
    for (; rows != 0; rows &= rows - 1) {
      RunningTable::Row& row = table->rows[static_cast<std::size_t>(std::countr_zero(rows))];
      if (row.level.load(std::memory_order_relaxed) == level) return &row;
    }
  }
  return nullptr;
}

}  // namespace

RunningRow::RunningRow(Level level, const Entry& entry) : table_(table_with_room()), level_(level) {
  const std::uint64_t taken = table_->taken.load(std::memory_order_relaxed);
  const unsigned from = table_->last + 1;
  number_ = (from + static_cast<unsigned>(std::countr_one(std::rotr(taken, static_cast<int>(from))))) % 64;
  table_->last = number_;
  RunningTable::Row& row = table_->rows[number_];
  row.name.store(entry.name, std::memory_order_relaxed);
  row.file.store(entry.file, std::memory_order_relaxed);
  row.line.store(entry.line, std::memory_order_relaxed);
  row.level.store(level, std::memory_order_relaxed);
  table_->taken.store(taken | std::uint64_t{1} << number_, std::memory_order_release);
}

void RunningRow::end(const Entry& shown) noexcept {
  if (!table_) return;
  RunningTable::Row& row = table_->rows[number_];
  row.ended_level = level_;
  row.ended = shown;
  row.level.store(0, std::memory_order_relaxed);
  const std::uint64_t taken = table_->taken.load(std::memory_order_relaxed);
  table_->taken.store(taken & ~(std::uint64_t{1} << number_), std::memory_order_release);
  table_ = nullptr;
}

Entry ended_here(Level level) {
  for (const RunningTable* table = this_thread.tables; table; table = table->more)
    for (const RunningTable::Row& row : table->rows)
      if (row.ended_level == level) return row.ended;
  return {};
}

std::optional<Entry> find_on_another_thread(Level level) {
  const RunningTable::Row* row = find_row(level, false);
  if (!row) return std::nullopt;
  return Entry{.name = row->name.load(std::memory_order_relaxed),
               .file = row->file.load(std::memory_order_relaxed),
               .line = row->line.load(std::memory_order_relaxed)};
}

bool is_running(Level level) { return find_row(level, true) != nullptr; }

void count_as_ended(Level level) noexcept {
  RunningTable::Row* row = find_row(level, true);
  // Its own thread may have ended it meanwhile, and have noted another in the row.
  if (row) row->level.compare_exchange_strong(level, 0, std::memory_order_relaxed);
}

void raise_ended_elsewhere(const Entry& entry) {
  raise<TransformError>("Inside: this thread has entered " + to_string(entry) +
                        ", which has ended on the thread that began it; end this thread's work before the function "
                        "returns");
}

}  // namespace ricci
