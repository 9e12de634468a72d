// The exchange of notices, and the errors that follow from it.
#include "mpi/agreement.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "ricci/error.h"

namespace ricci::mpi {
namespace {

enum State : std::int64_t {
  calls,
  value_error,
  index_error,
  type_error,
  transform_error,
  not_implemented,
  error,
  has_left
};

struct Notice {
  std::int64_t state = calls;
  std::uint64_t about = 0;  // of what the rank calls, and on what
  std::int64_t length = 0;  // of that text, so that two texts of one hash differ
  std::int64_t number = 0;
};
static_assert(sizeof(Notice) == 32);  // ricci/mpi.h says so

/// Beside the class of an error that all ranks of a world throw together.
struct Together {
  explicit Together(const WorldState& of) : world(&of) {}
  virtual ~Together() = default;
  const WorldState* world;
};
template <class E>
struct ErrorTogether final : E, Together {
  ErrorTogether(const std::string& text, const WorldState& of) : E(text), Together(of) {}
};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: the same on every machine
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::vector<Notice> exchange(WorldState& world, const Notice& mine, const std::string& call) {
  std::vector<Notice> notices(static_cast<std::size_t>(world.size));
  meet(world, &mine, sizeof mine, notices.data(), call);
  return notices;
}

/// `rank 1`, `ranks 0, 2 and 3`, `ranks 0 to 14 and 16`.
std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last < i + 2) last = i;  // two in a row are no range
    parts.push_back(std::to_string(ranks[i]) + (last > i ? " to " + std::to_string(ranks[last]) : ""));
    i = last + 1;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

struct Said {
  std::string call;
  std::vector<std::string> about;
};
/// `mpi::sum` and `f32[3]`, of one text.
Said split(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0, until = 0; until != std::string::npos; from = until + 1) {
    until = text.find('\n', from);
    lines.push_back(text.substr(from, until - from));
  }
  return {lines[0], {lines.begin() + 1, lines.end()}};
}

/// The parts in which the ranks' texts differ; all parts where ranks have more of them than others.
std::vector<std::size_t> differing_parts(const std::vector<Said>& said) {
  std::vector<std::size_t> differ, all;
  bool are_as_many = true;
  for (std::size_t i = 0; i < said[0].about.size(); ++i) {
    const auto is_another = [&](const Said& s) { return i >= s.about.size() || s.about[i] != said[0].about[i]; };
    all.push_back(i);
    if (std::any_of(said.begin(), said.end(), is_another)) differ.push_back(i);
  }
  for (const Said& s : said) are_as_many &= s.about.size() == said[0].about.size();
  return are_as_many ? differ : all;
}

template <class E>
[[noreturn]] void throw_together(const WorldState& world, const std::string& text) {
  throw ErrorTogether<E>(text, world);
}

[[noreturn]] void throw_of_state(const WorldState& world, std::int64_t state, const std::string& text) {
  switch (state) {
    case value_error: throw_together<ValueError>(world, text);
    case index_error: throw_together<IndexError>(world, text);
    case type_error: throw_together<TypeError>(world, text);
    case transform_error: throw_together<TransformError>(world, text);
    case not_implemented: throw_together<NotImplementedError>(world, text);
    default: throw_together<Error>(world, text);
  }
}

/// The first rank's error, and which others there are; where all ranks have thrown one text, that.
[[noreturn]] void raise_failure(WorldState& world, const std::vector<Notice>& notices, const std::string& mine) {
  const std::vector<std::string> texts = all_gather_texts(world, mine);
  std::vector<int> failed;
  for (int r = 0; r < world.size; ++r)
    if (notices[static_cast<std::size_t>(r)].state != calls) failed.push_back(r);
  // Who has left tells less than who has thrown.
  const auto threw = std::find_if(failed.begin(), failed.end(),
                                  [&](int r) { return notices[static_cast<std::size_t>(r)].state != has_left; });
  if (threw != failed.end()) std::rotate(failed.begin(), threw, threw + 1);
  const auto first = static_cast<std::size_t>(failed.front());
  const bool is_one_text = std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return t == texts[first]; });
  if (is_one_text && std::ssize(failed) == world.size) throw_of_state(world, notices[first].state, texts[first]);
  std::string text = "rank " + std::to_string(first) + " of " + std::to_string(world.size);
  if (notices[first].state == has_left)
    text += " has left rc::mpi::Session, while others call " + split(mine).call + ": ";
  else text += ": ";
  text += texts[first];
  if (failed.size() > 1) text += " (" + ranks_text({failed.begin() + 1, failed.end()}) + " failed too)";
  throw_of_state(world, notices[first].state, text);
}

[[noreturn]] void raise_difference(WorldState& world, const std::string& mine) {
  const std::vector<std::string> texts = all_gather_texts(world, mine);
  std::vector<Said> said;
  for (const std::string& text : texts) said.push_back(split(text));
  const bool is_one_call = std::all_of(said.begin(), said.end(), [&](const Said& s) { return s.call == said[0].call; });
  const std::vector<std::size_t> parts = differing_parts(said);
  const auto shown = [&](const Said& s) {
    if (!is_one_call) return s.call + (s.about.empty() || s.about[0].empty() ? "" : " on " + s.about[0]);
    std::string text;
    for (const std::size_t i : parts)
      if (i < s.about.size()) text += (text.empty() ? "" : ", ") + s.about[i];
    return text;
  };
  std::map<std::string, std::vector<int>> groups;
  for (int r = 0; r < world.size; ++r) groups[shown(said[static_cast<std::size_t>(r)])].push_back(r);
  std::vector<std::pair<std::string, std::vector<int>>> in_order(groups.begin(), groups.end());
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = is_one_call ? said[0].call + ": the ranks differ: " : "mpi: the ranks make different calls: ";
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, in_order.size()); ++i) {
    const auto& [what, ranks] = in_order[i];
    const bool is_one = ranks.size() == 1;
    if (i > 0) text += ", ";
    text += ranks_text(ranks) + (is_one_call ? is_one ? " has " : " have " : is_one ? " calls " : " call ") + what;
  }
  if (in_order.size() > most) text += ", … " + std::to_string(in_order.size() - most) + " more";
  text += is_one_call ? "; every rank must pass the same" : "; every rank must make the same calls in the same order";
  throw_together<ValueError>(world, text);
}

struct Caught {
  State state;
  std::string text;
};

/// What this rank has caught. Throws it on if all ranks of the world have thrown it.
Caught caught(const WorldState& world) {
  try {
    throw;
  } catch (const Together& together) {
    if (together.world == &world) throw;
  } catch (...) {}
  try {
    throw;
  } catch (const ValueError& e) { return {value_error, e.what()}; } catch (const IndexError& e) {
    return {index_error, e.what()};
  } catch (const TypeError& e) { return {type_error, e.what()}; } catch (const TransformError& e) {
    return {transform_error, e.what()};
  } catch (const NotImplementedError& e) { return {not_implemented, e.what()}; } catch (const std::exception& e) {
    return {error, e.what()};
  } catch (...) { return {error, "an exception that is no std::exception"}; }
}

/// Ends this process, and with it all ranks, unless it is destroyed within some seconds: ranks that compute, or wait in
/// a smaller world, may never hear that this one has failed.
class Deadline {
 public:
  explicit Deadline(const WorldState& world)
      : thread_([this, rank = world.rank, size = world.size] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, std::chrono::seconds(10), [this] { return is_over_; })) return;
          std::fprintf(stderr,
                       "rc::mpi: rank %d of %d ends all ranks: an exception left its rc::mpi::Session, and the others "
                       "have not come to a call within 10 s\n",
                       rank, size);
          std::_Exit(1);
        }) {}
  Deadline(const Deadline&) = delete;
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

std::vector<std::int64_t> agree(WorldState& world, const std::string& call, const std::string& about,
                                std::int64_t mine) {
  const std::string text = call + "\n" + about;
  const Notice notice{
      .state = calls, .about = hash_of(text), .length = static_cast<std::int64_t>(text.size()), .number = mine};
  const std::vector<Notice> notices = exchange(world, notice, call);
  const auto has_failed = [](const Notice& n) { return n.state != calls; };
  if (std::any_of(notices.begin(), notices.end(), has_failed)) raise_failure(world, notices, text);
  const auto differs = [&](const Notice& n) { return n.about != notice.about || n.length != notice.length; };
  std::vector<std::int64_t> numbers;
  bool do_differ = false;
  for (const Notice& n : notices) {
    do_differ |= differs(n);
    numbers.push_back(n.number);
  }
  // Every rank sees the same notices: either all differ from some, or none does.
  if (do_differ) raise_difference(world, text);
  return numbers;
}

void fail(WorldState& world) {
  const Caught found = caught(world);
  const std::string call = "a call that has failed here (" + found.text + ")";
  const std::vector<Notice> notices = exchange(world, {.state = found.state}, call);
  raise_failure(world, notices, found.text);
}

void leave(WorldState& world, bool by_exception) {
  std::optional<Deadline> deadline;
  if (by_exception) deadline.emplace(world);
  const std::string text = by_exception ? "an exception ended it" : "its main has ended";
  std::vector<MPI_Request> sent = tell_that_this_rank_leaves(world);
  while (true) {
    const std::vector<Notice> notices = exchange(world, {.state = has_left}, "~Session");
    if (std::all_of(notices.begin(), notices.end(), [](const Notice& n) { return n.state == has_left; })) break;
    all_gather_texts(world, text);
  }
  hear_that_all_leave(world, std::move(sent));
}

}  // namespace ricci::mpi
