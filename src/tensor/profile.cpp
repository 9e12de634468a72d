// Where spans of time are kept, and how they are written: in the format of chrome://tracing.
#include "tensor/profile.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ricci/error.h"
#include "tensor/thread_context.h"
#include "tensor/utf8.h"

namespace ricci::profile {
namespace {

struct Event {
  std::string name;
  const char* category;
  std::int64_t begin, end;
};

/// What one thread has noted.
struct OfThread {
  int number;
  std::mutex mutex;
  std::vector<Event> events;
};

constexpr std::int64_t most_events = 2'000'000;

struct Profile {
  std::mutex mutex;  // of what stands here
  std::string path;
  pid_t process = 0;
  std::int64_t begin = 0;
  int rank = -1;  // -1: of one process
  std::vector<std::shared_ptr<OfThread>> threads;

  std::atomic<std::int64_t> events = 0;  // with those left out
};
/// Never destroyed: the library's threads outlive static objects.
Profile& profile() {
  static Profile& one = *new Profile;
  return one;
}

OfThread& of_this_thread() {
  thread_local const std::shared_ptr<OfThread> mine = [] {
    Profile& p = profile();
    const std::lock_guard lock(p.mutex);
    auto made = std::make_shared<OfThread>();
    made->number = static_cast<int>(p.threads.size());
    p.threads.push_back(made);
    return made;
  }();
  return *mine;
}

std::string in_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : in_utf8(text)) {
    char code[8];
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      quoted += code;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}
std::string microseconds(std::int64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(nanoseconds) * 1e-3);
  return text;
}

/// `trace.rank2.json`
std::string path_of_rank(const std::string& path, int rank) {
  if (rank < 0) return path;
  const std::size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::size_t end = has_ending ? dot : path.size();
  return path.substr(0, end) + ".rank" + std::to_string(rank) + path.substr(end);
}

/// Requires: the profile's mutex. False if the file cannot be written.
bool write(Profile& p) {
  std::ofstream out(path_of_rank(p.path, p.rank));
  const std::string process = std::to_string(std::max(p.rank, 0));
  const char* comma = "\n";
  out << R"({"displayTimeUnit":"ns","traceEvents":[)";
  for (const std::shared_ptr<OfThread>& thread : p.threads) {
    const std::lock_guard lock(thread->mutex);
    const std::string place = ",\"pid\":" + process + ",\"tid\":" + std::to_string(thread->number);
    for (const Event& e : thread->events) {
      const std::int64_t begin = std::max(e.begin, p.begin);  // a span may have begun before the profile
      out << comma << "{\"ph\":\"X\",\"name\":" << in_json(e.name) << ",\"cat\":\"" << e.category << "\"" << place
          << ",\"ts\":" << microseconds(begin - p.begin) << ",\"dur\":" << microseconds(e.end - begin) << "}";
      comma = ",\n";
    }
    thread->events = {};
  }
  out << comma << R"({"ph":"M","name":"process_name","pid":)" << process << R"(,"args":{"name":"rank )" << process
      << "\"}}],\n\"otherData\":{\"spans_left_out\":" << std::max<std::int64_t>(0, p.events - most_events) << "}}\n";
  out.close();
  return out.good();
}

void write_at_exit() {
  Profile& p = profile();
  const std::lock_guard lock(p.mutex);
  if ((asked_first.fetch_and(~a_profile_runs) & a_profile_runs) == 0 || p.process != getpid()) return;
  if (!write(p)) std::fprintf(stderr, "ricci: profile: %s cannot be written\n", p.path.c_str());
}

}  // namespace

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void note(std::string_view name, const char* category, std::int64_t begin) noexcept {
  const std::int64_t end = now();
  Profile& p = profile();
  if (!is_so(a_profile_runs) || p.events.fetch_add(1, std::memory_order_relaxed) >= most_events) return;
  try {
    OfThread& thread = of_this_thread();
    const std::lock_guard lock(thread.mutex);
    thread.events.push_back({std::string(name), category, begin, end});
  } catch (const std::exception&) {}  // no memory is left: the span is
}

void Noted::begin(const char* name, const char* category) {
  name_ = name;
  category_ = category;
  around_ = std::exchange(this_thread.profiled, name);
  begin_ = now();
}
void Noted::end() noexcept {
  note(name_, category_, begin_);
  this_thread.profiled = around_;
}
const char* Noted::innermost() { return this_thread.profiled; }

void set_rank(int rank) {
  Profile& p = profile();
  const std::lock_guard lock(p.mutex);
  p.rank = rank;
}

void start(const std::string& path) {
  static const int registered = std::atexit(write_at_exit);
  static_cast<void>(registered);
  Profile& p = profile();
  const std::lock_guard lock(p.mutex);
  if (is_so(a_profile_runs)) throw ValueError("profile::start: a profile runs; end it with profile::stop");
  if (!std::ofstream(path_of_rank(path, p.rank)))
    throw ValueError("profile::start: " + path + " cannot be written; is there such a folder?");
  for (const std::shared_ptr<OfThread>& thread : p.threads) {
    const std::lock_guard of_thread(thread->mutex);
    thread->events.clear();
  }
  p.path = path;
  p.process = getpid();
  p.events = 0;
  p.begin = now();
  asked_first |= a_profile_runs;
}

void stop() {
  Profile& p = profile();
  const std::lock_guard lock(p.mutex);
  const bool runs = (asked_first.fetch_and(~a_profile_runs) & a_profile_runs) != 0;
  if (!runs || p.process != getpid())  // a child of fork would write over its parent's file
    throw ValueError("profile::stop: no profile runs; begin one with profile::start");
  if (!write(p)) throw ValueError("profile::stop: " + p.path + " cannot be written; is the disk full?");
}

Span::Span(std::string_view name) : begin_(is_so(a_profile_runs) ? now() : -1) {
  if (begin_ >= 0) name_ = name;
}
Span::~Span() {
  if (begin_ >= 0) note(name_, "user", begin_);
}

}  // namespace ricci::profile
